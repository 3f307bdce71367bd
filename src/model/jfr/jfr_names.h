/* Names of the objects in events: threads, classes, methods, stack frames. */
#ifndef JTOOL_MODEL_JFR_JFR_NAMES_H
#define JTOOL_MODEL_JFR_JFR_NAMES_H

#include "model/jfr/jfr_datum.h"

/* Appends a text, a symbol, or the name of an object in Java source form; nothing for null. */
void jfr_name_add(struct buf *out, const struct jfr_chunk *chunk, const struct jfr_datum *d);

/* Appends "a.b.C.m(int, String)" for a method. */
void jfr_method_add(struct buf *out, const struct jfr_chunk *chunk, const struct jfr_datum *method);

/* A stack trace, the innermost frame first. */
struct jfr_stack {
	const struct jfr_chunk *chunk;
	struct jfr_datum frames; /* JFR_ELEMENTS, or JFR_NOTHING */
	bool truncated; /* outer frames are missing */
};

struct jfr_frame {
	struct jfr_datum method;
	int64_t line; /* 0 or less: not known */
	int64_t bytecode_index;
	struct jfr_datum type; /* "Interpreted", "JIT compiled", "Inlined", "Native" */
};

/* Reads the value of a field stackTrace.  `stack->frames.n` is 0 if there is none. */
void jfr_stack_read(const struct jfr_chunk *chunk, const struct jfr_datum *trace,
		    struct jfr_stack *stack);
/*
 * Reads the next frame, and removes it from the stack.  Returns false at the end.  method.key names
 * the method in this chunk, so that a consumer formats it once.
 */
bool jfr_stack_next(struct jfr_stack *stack, struct jfr_frame *frame);

#endif
