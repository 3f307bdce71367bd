/*
 * The stack frames of a profile, numbered from 0 in the order in which the agent sends them (FRAMES
 * in wire/frames.def).
 */
#ifndef JTOOL_MODEL_PROFILE_FRAME_TABLE_H
#define JTOOL_MODEL_PROFILE_FRAME_TABLE_H

#include "base/buf.h"
#include "wire/cursor.h"

struct frame_table {
	/* texts as Java prints them: "a.b.C.m(File.java:12)", "a.b.C.m(Native Method)" */
	char **texts;
	size_t n, cap;
	size_t bytes; /* length of all texts in bytes */
};

void frame_table_release(struct frame_table *f);

/*
 * Reads the payload of a frame FRAMES.  Returns 0, or -EBADMSG if it is inconsistent or exceeds a
 * limit.
 */
int frame_table_take(struct frame_table *f, struct wire_reader *payload) _must_check_;

/* Adds a stack frame by its text.  Returns 0, or -EBADMSG if a limit is exceeded. */
int frame_table_add(struct frame_table *f, const char *text, size_t len) _must_check_;

#endif
