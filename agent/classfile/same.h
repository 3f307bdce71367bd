/*
 * Do two methods' instructions do the same?  They may stand in two constant pools, which number
 * the same constants differently: so does the JVM when it merges pools at a redefinition.
 */
#ifndef JTOOL_CLASSFILE_SAME_H
#define JTOOL_CLASSFILE_SAME_H

#include "classfile/code.h"

struct cf_body {
	const struct cf_pool *pool;
	const uint8_t *code;
	uint32_t len;
	/* What stands outside of code and pool, and memory does not tell; NULL: not known */
	struct cf_attribute bootstraps; /* BootstrapMethods; its data */
	const uint8_t *handlers;        /* as in struct cf_code */
	uint16_t n_handlers;
};

/* The body that a method of a class file has. */
struct cf_body cf_body(const struct cf_class *class, const struct cf_code *code);

/*
 * Instruction by instruction, constants by what they mean, jumps by where they lead; ldc and
 * ldc_w, goto and goto_w are the same.  Of invokedynamic and dynamic constants name and type
 * count; bootstrap methods and exception handlers where both bodies know them.  Takes memory for
 * both bodies' length; 1: the same, 0: not, or one of them is no code; -1: no memory.
 */
int cf_same_code(const struct cf_body *a, const struct cf_body *b, struct ag_mem *mem)
	__attribute__((warn_unused_result));

/* Do two constants, each of its own pool, mean the same?  But for bootstrap methods. */
bool cf_same_constant(const struct cf_pool *a, uint16_t i, const struct cf_pool *b, uint16_t k);

#endif
