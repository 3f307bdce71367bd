/*
 * Compares the instructions of two methods.  A constant may have one index in the first method's
 * constant pool and another index in the second's, because the JVM merges the old and the new
 * constant pool when it redefines a class.
 */
#ifndef JTOOL_AGENT_CLASSFILE_CODE_EQUAL_H
#define JTOOL_AGENT_CLASSFILE_CODE_EQUAL_H

#include "classfile/code.h"

struct cf_body {
	const struct cf_pool *pool;
	const uint8_t *code;
	uint32_t len;
	/* The members below are not known for code read from the JVM's memory: NULL or 0. */
	struct cf_attribute bootstraps; /* the BootstrapMethods attribute */
	const uint8_t *handlers;        /* as in struct cf_code */
	uint16_t n_handlers;
};

/* Returns the body of a method of a class file. */
struct cf_body cf_body(const struct cf_class *class, const struct cf_code *code);

/*
 * Compares two bodies instruction by instruction:
 * - constants by value; dynamic constants and invokedynamic by name and type;
 * - jumps by the instruction at their target;
 * - ldc_w, goto_w and jsr_w as if they were the short forms ldc, goto and jsr;
 * - bootstrap methods and exception handlers only if they are known for both bodies.
 * Allocates 4 bytes of memory for each byte of code.  Returns 1 if the bodies are equal; or 0 if
 * they differ or one is malformed; or -1 if memory is short.
 */
int cf_code_equal(const struct cf_body *a, const struct cf_body *b, struct ag_mem *mem)
	__attribute__((warn_unused_result));

/* Returns true if two constants are equal.  Does not compare their bootstrap methods. */
bool cf_constant_equal(const struct cf_pool *a, uint16_t i, const struct cf_pool *b, uint16_t k);

#endif
