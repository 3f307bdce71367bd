/*
 * The frames of a StackMapTable (JVMS 4.7.4): read one by one, each whole, whatever encoding it
 * has; and written anew, each whole, with the new local variable.
 */
#ifndef JTOOL_CLASSFILE_FRAMES_H
#define JTOOL_CLASSFILE_FRAMES_H

#include "classfile/injecting.h"

struct frames {
	struct cf_bytes bytes;
	uint32_t left;
	uint32_t pc;            /* of this frame; UINT32_MAX before the first */
	struct inj_cell *cells; /* its local variables, in the method's room */
	uint32_t n_cells;
	uint32_t slots, max_slots; /* longs and doubles take two */
	struct cf_bytes stack;  /* its types, as they stand there */
	uint32_t n_stack;
	bool failed;            /* they make no sense */
};

/*
 * Each frame is written whole: with those of the methods before, would that take too long?  That
 * is no class that was ever compiled.
 */
bool frames_are_too_many(struct injecting *m);

/* Begin with what the method's parameters are (JVMS 4.10.1.6), as if it was a frame. */
void frames_open(struct frames *f, struct injecting *m);
/* The next one; false at the end, or where they make no sense. */
bool frames_next(struct frames *f);

struct inj_cell frames_cell(struct cf_bytes *bytes);
/* Is `this` uninitialised, and if so, is it still where it was? */
bool frames_uninit(const struct frames *f);
bool frames_this_first(const struct frames *f);

/* A StackMapTable's frames with the token. */
enum cf_refusal frames_put(struct injecting *m);
/* And as they are, but for their places and those of what is made in them. */
enum cf_refusal frames_move(struct injecting *m);

#endif
