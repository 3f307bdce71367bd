/*
 * Guesses which tools instrumented a class: well-known tools and frameworks leave specific names in
 * the constant pool.  A hint names the tool, not the change.  A class without hints may be
 * instrumented all the same.
 */
#ifndef JTOOL_MODEL_CLASS_INSTRUMENTATION_HINTS_H
#define JTOOL_MODEL_CLASS_INSTRUMENTATION_HINTS_H

#include "classfile/read.h"

#define INSTRUMENTATION_HINT_MAX 8

/*
 * Stores a constant text in `words` for each tool that was found ("JaCoCo: counts which code
 * runs"), and returns the number of tools.  `class` is the class file, `memory` the constant pool
 * in memory; either may be NULL.
 */
size_t instrumentation_hint(const struct cf_class *class, const struct cf_pool *memory,
			    const char *words[static INSTRUMENTATION_HINT_MAX]);

#endif
