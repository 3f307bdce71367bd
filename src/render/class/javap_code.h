/*
 * Prints the fields, methods and bytecode of a class in the format of `javap -c -p` (JDK 17).
 *
 * If a method's code in the JVM's memory differs from the class file (struct class_capture), the
 * code in memory is printed, with a comment after "Code:".  The code in memory refers to the
 * constant pool in memory, and has no exception table, because JVMTI does not report one.
 */
#ifndef JTOOL_RENDER_CLASS_JAVAP_CODE_H
#define JTOOL_RENDER_CLASS_JAVAP_CODE_H

#include <stdio.h>

#include "model/class/class_capture.h"
#include "render/json.h"

/*
 * Prints the class.  `memory` may be NULL.  If there is no class file (hidden classes), `class` is
 * NULL, and only the methods in memory are printed.  Returns NULL; or, if the constant pool in
 * memory cannot be read, the reason: then the code of the class file is printed.
 */
const char *javap_code(FILE *out, const struct cf_class *class,
		       const struct class_capture *memory) _must_check_;

/*
 * Returns the methods that javap_code() prints, as JSON, which the caller frees:
 * [{"method","name","descriptor","memory","code":[{"pc","text"}],"exceptions":[{"from",
 * "to","target","type"}]}].  "memory" is true if the code is from the JVM's memory.  "code" is null
 * for abstract and native methods.
 */
struct json *javap_code_json(const struct cf_class *class, const struct class_capture *memory);

#endif
