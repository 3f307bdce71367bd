/*
 * The stack frames of a profile.  The agent sends them (FRAMES in wire/frames.def); their numbers
 * are 0, 1, 2, … in the order in which they arrive.
 */
#ifndef JTOOL_MODEL_PROFILE_FRAME_TABLE_H
#define JTOOL_MODEL_PROFILE_FRAME_TABLE_H

#include "base/buf.h"
#include "wire/cursor.h"

struct frame_table {
	/* the frames as Java prints them: "a.b.C.m(File.java:12)", "a.b.C.m(Native Method)" */
	char **texts;
	size_t n, cap;
	size_t bytes; /* total length of the texts in bytes */
};

void frame_table_release(struct frame_table *f);

/*
 * Reads the payload of a frame FRAMES.  Returns 0, or -EBADMSG if the payload is inconsistent
 * or a limit is exceeded.
 */
int frame_table_take(struct frame_table *f, struct wire_reader *payload) _must_check_;

/* Adds a stack frame that has this text.  Returns 0, or -EBADMSG if a limit is exceeded. */
int frame_table_add(struct frame_table *f, const char *text, size_t len) _must_check_;

#endif
