/*
 * Compares the instructions of two methods.  A constant may have one index in the first method's
 * constant pool and another index in the second's, because the JVM merges the old and the new
 * constant pool when it redefines a class.
 */
#ifndef JTOOL_AGENT_CLASSFILE_CODE_EQUAL_H
#define JTOOL_AGENT_CLASSFILE_CODE_EQUAL_H

#include "classfile/code.h"

/* The BootstrapMethods attribute of a class (JVMS 4.7.23), indexed. */
struct cf_bootstraps {
	const uint8_t *data; /* NULL: the class has no such attribute */
	uint32_t *at;        /* at[i]: offset in `data` of entry i */
	uint32_t n;          /* number of complete entries */
	/*
	 * Number of arguments that were compared so far.  The limit for all methods of the class
	 * together is 2^20; code that exceeds it counts as different.
	 */
	uint32_t n_compared;
	struct ag_mem *mem;
};

/*
 * Indexes the bootstrap methods of a class, which must outlive *b.  Allocates 4 bytes for each
 * entry.  Returns 0; or -1 if memory is short: then *b is as if the class had no bootstrap methods.
 */
int cf_bootstraps_open(struct cf_bootstraps *b, const struct cf_class *class, struct ag_mem *mem)
	__attribute__((warn_unused_result));
void cf_bootstraps_release(struct cf_bootstraps *b);

struct cf_body {
	const struct cf_pool *pool;
	const uint8_t *code;
	uint32_t len;
	/* The members below are not known for code read from the JVM's memory: NULL or 0. */
	struct cf_bootstraps *bootstraps; /* those of the class, shared by all of its methods */
	const uint8_t *handlers;          /* as in struct cf_code */
	uint16_t n_handlers;
};

/*
 * Returns the body of a method of a class file.  `bootstraps` are those of the class, and must
 * outlive the body; NULL: not known.
 */
struct cf_body cf_body(const struct cf_class *class, const struct cf_code *code,
		       struct cf_bootstraps *bootstraps);

/*
 * Compares two bodies instruction by instruction:
 * - constants by value; dynamic constants and invokedynamic by name and type;
 * - jumps by the instruction at their target;
 * - ldc_w, goto_w and jsr_w as if they were the short forms ldc, goto and jsr;
 * - bootstrap methods and exception handlers only if they are known for both bodies; their
 *   arguments count in a->bootstraps->n_compared.
 * Allocates 4 bytes of memory for each byte of code.  Returns 1 if the bodies are equal; or 0 if
 * they differ or one is malformed; or -1 if memory is short.
 */
int cf_code_equal(const struct cf_body *a, const struct cf_body *b, struct ag_mem *mem)
	__attribute__((warn_unused_result));

/* Returns true if two constants are equal.  Does not compare their bootstrap methods. */
bool cf_constant_equal(const struct cf_pool *a, uint16_t i, const struct cf_pool *b, uint16_t k);

#endif
