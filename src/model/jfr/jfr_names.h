/* Texts for the objects in events: threads, classes, methods, stack frames. */
#ifndef JTOOL_MODEL_JFR_JFR_NAMES_H
#define JTOOL_MODEL_JFR_JFR_NAMES_H

#include "model/jfr/jfr_datum.h"

/*
 * Appends the text of a value: the text of a string or symbol, or the name of an object in Java
 * source form.  Appends nothing for null.
 */
void jfr_name_add(struct buf *out, const struct jfr_chunk *chunk, const struct jfr_datum *d);

/* Appends "a.b.C.m(int, String)" for a method. */
void jfr_method_add(struct buf *out, const struct jfr_chunk *chunk, const struct jfr_datum *method);

/* Appends "a.b.C.m". */
void jfr_method_name_add(struct buf *out, const struct jfr_chunk *chunk,
			 const struct jfr_datum *method);

/* A stack trace whose frames are read one after the other, the innermost one first. */
struct jfr_stack {
	const struct jfr_chunk *chunk;
	struct jfr_datum frames; /* the frames that are left (JFR_ELEMENTS), or JFR_NOTHING */
	bool truncated; /* the recording does not have the outermost frames */
};

struct jfr_frame {
	struct jfr_datum method;
	int64_t line; /* line number; 0 or less: unknown */
	int64_t bytecode_index;
	struct jfr_datum type; /* text: "Interpreted", "JIT compiled", "Inlined", "Native" */
};

/*
 * Sets *stack to the stack trace `trace`, the value of an event's field stackTrace.  If the event
 * has no stack trace, stack->frames.n is 0.
 */
void jfr_stack_read(const struct jfr_chunk *chunk, const struct jfr_datum *trace,
		    struct jfr_stack *stack);
/*
 * Reads the next frame and removes it from the stack.  Returns false at the end.  Within a chunk,
 * equal keys (method.key) mean the same method, so a consumer needs to format each method only
 * once.
 */
bool jfr_stack_next(struct jfr_stack *stack, struct jfr_frame *frame);

#endif
