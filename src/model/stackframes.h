/*
 * Frames of stacks: told once each, numbered from 0 (FRAMES in wire/types.def).
 */
#ifndef JTOOL_MODEL_STACKFRAMES_H
#define JTOOL_MODEL_STACKFRAMES_H

#include "base/buf.h"
#include "wire/cursor.h"

struct stackframes {
	char **texts; /* as Java prints them: "a.b.C.m(File.java:12)", "a.b.C.m(Native Method)" */
	size_t n, cap;
	size_t bytes; /* of all texts */
};

void stackframes_release(struct stackframes *f);

/* Take the payload of one frame: 0, or -EBADMSG when it makes no sense or there are too many. */
int stackframes_take(struct stackframes *f, struct wire_reader *payload) _must_check_;

/* Add one that is written already: 0, or -EBADMSG when there are too many. */
int stackframes_add(struct stackframes *f, const char *text, size_t len) _must_check_;

#endif
