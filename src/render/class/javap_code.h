/*
 * The fields, methods and bytecode of a class in the format of `javap -c -p` (JDK 17).
 *
 * If a method's code in the JVM's memory differs from the class file (struct class_capture), the
 * code in memory is shown with a comment after "Code:".  Its constant indexes are those of the pool
 * in memory.  It has no exception table, which JVMTI does not report.
 */
#ifndef JTOOL_RENDER_CLASS_JAVAP_CODE_H
#define JTOOL_RENDER_CLASS_JAVAP_CODE_H

#include <stdio.h>

#include "model/class/class_capture.h"
#include "render/json.h"

/*
 * Prints the class.  `memory` may be NULL.  Without a class file (hidden classes) `class` is NULL,
 * and only the methods in memory are printed.  Returns NULL, or why the constant pool in memory
 * cannot be read; the class file's code is printed then.
 */
const char *javap_code(FILE *out, const struct cf_class *class,
		       const struct class_capture *memory) _must_check_;

/*
 * Returns [{"method","name","descriptor","memory","code":[{"pc","text"}],"exceptions":[{"from",
 * "to","target","type"}]}], which the caller frees.  "memory" is true if the code is from the JVM's
 * memory.  "code" is null for abstract and native methods.
 */
struct json *javap_code_json(const struct cf_class *class, const struct class_capture *memory);

#endif
