/* dump --diff: compares the code that the JVM runs with the code in class files. */
#ifndef JTOOL_CMD_CLASS_DUMP_DIFF_H
#define JTOOL_CMD_CLASS_DUMP_DIFF_H

#include "cmd/class/class_index.h"

/*
 * Compares the classes in `index` with the class files in `path`, which is a file, a directory or a
 * jar.  Prints the methods whose code differs.  Returns 0, even if methods differ; or -1 with err
 * set (EXIT_PARTIAL) if a class cannot be compared.
 */
int dump_diff(const struct ctx *ctx, struct class_index *index, const char *path,
	      struct err *err) _must_check_;

#endif
