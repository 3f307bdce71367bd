/*
 * Compares the instructions of two methods.  The same constant may have different indexes in their
 * constant pools: when the JVM redefines a class, it merges the old and the new pool.
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
 * Compares two bodies instruction by instruction: constants by value, jumps by the instruction to
 * which they jump.  The long forms ldc_w, goto_w and jsr_w equal the short ones.  Dynamic constants
 * and invokedynamic are compared by name and type.  Bootstrap methods and exception handlers are
 * compared only if they are known for both bodies.  Allocates 4 bytes for each byte of both bodies.
 * Returns 1 if the bodies are equal, 0 if they differ or one is malformed, -1 if memory is short.
 */
int cf_code_equal(const struct cf_body *a, const struct cf_body *b, struct ag_mem *mem)
	__attribute__((warn_unused_result));

/* Returns true if two constants are equal.  Ignores bootstrap methods. */
bool cf_constant_equal(const struct cf_pool *a, uint16_t i, const struct cf_pool *b, uint16_t k);

#endif
