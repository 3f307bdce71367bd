/*
 * Prints the fields, methods and bytecode of a class in the format of `javap -c -p` (JDK 17).
 *
 * If a method's code in the JVM's memory (struct class_capture) differs from that in the class
 * file, the code in memory is printed, with a comment after "Code:".  Its constants are those of
 * the constant pool in memory.  It has no exception table, because JVMTI does not report one.
 */
#ifndef JTOOL_RENDER_CLASS_JAVAP_CODE_H
#define JTOOL_RENDER_CLASS_JAVAP_CODE_H

#include <stdio.h>

#include "model/class/class_capture.h"
#include "render/json.h"

/*
 * Prints the class.  `memory` may be NULL.  If `class` is NULL, because a hidden class has no class
 * file, prints only the methods in memory.  Returns NULL; or, if the constant pool in memory cannot
 * be read, the reason.  In that case it prints the code of the class file.
 */
const char *javap_code(FILE *out, const struct cf_class *class,
		       const struct class_capture *memory) _must_check_;

/*
 * Returns a JSON array of the methods that javap_code() prints; the caller frees it:
 * [{"method","name","descriptor","memory","code":[{"pc","text"}],"exceptions":[{"from",
 * "to","target","type"}]}].  "memory" is true if the code is from the JVM's memory.  "code" is null
 * for abstract and native methods.  Sets *why to what javap_code() returns.
 */
struct json *javap_code_json(const struct cf_class *class, const struct class_capture *memory,
			     const char **why);

#endif
