/*
 * The members of a class and the instructions of its methods as `javap -c -p` of JDK 17 prints
 * them: "Compiled from", the declaration and what is between its braces.
 *
 * Where the code in the JVM's memory does another thing than the class file's (struct captured),
 * the memory's is shown, and "Code:" says so: its constants have the numbers of the pool in
 * memory, and JVMTI tells no exception table.
 */
#ifndef JTOOL_RENDER_JAVAP_CODE_H
#define JTOOL_RENDER_JAVAP_CODE_H

#include <stdio.h>

#include "model/captured.h"
#include "render/json.h"

/*
 * `memory` may be NULL; or `class`, when there is no class file (hidden classes): then only the
 * methods in memory are shown, without the lines around them.  NULL when done, else why the
 * memory's constant pool cannot be read; the class file's code was shown then.
 */
const char *javap_code(FILE *out, const struct cf_class *class, const struct captured *memory)
	_must_check_;

/*
 * [{"method","name","descriptor","memory","code":[{"pc","text"}],"exceptions":[{"from","to",
 * "target","type"}]}]; `memory`: the code is the memory's; `code` is null without code.
 */
struct json *javap_code_json(const struct cf_class *class, const struct captured *memory);

#endif
