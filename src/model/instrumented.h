/*
 * What instrumented a class, as far as that can be told: well-known tools and frameworks leave
 * names in the constant pool that they alone have.  A sign says who was there, not what was
 * changed; a class without signs may be changed all the same.
 */
#ifndef JTOOL_MODEL_INSTRUMENTED_H
#define JTOOL_MODEL_INSTRUMENTED_H

#include "classfile/read.h"

#define INSTRUMENTED_MAX 8

/*
 * Words for each that is found ("JaCoCo: counts which code runs"), constants, at most
 * INSTRUMENTED_MAX; returns how many.  `class` is the class file, `memory` the constant pool in
 * memory where it is known; both may be NULL.
 */
size_t instrumented_by(const struct cf_class *class, const struct cf_pool *memory,
		       const char *words[static INSTRUMENTED_MAX]);

#endif
