/* dump --diff: compares the code that the JVM runs with the code in class files. */
#ifndef JTOOL_CMD_CLASS_DUMP_DIFF_H
#define JTOOL_CMD_CLASS_DUMP_DIFF_H

#include "cmd/class/class_index.h"

/*
 * Prints in which methods the code of the classes in `index` differs from the class files in
 * `path`, which is a file, a directory or a jar.  Returns 0 also if methods differ, and -1 with err
 * set (EXIT_PARTIAL) if a class cannot be compared.
 */
int dump_diff(const struct ctx *ctx, struct class_index *index, const char *path,
	      struct err *err) _must_check_;

#endif
