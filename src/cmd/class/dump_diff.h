/* dump --diff: compares the code that the JVM runs with class files. */
#ifndef JTOOL_CMD_CLASS_DUMP_DIFF_H
#define JTOOL_CMD_CLASS_DUMP_DIFF_H

#include "cmd/class/class_index.h"

/*
 * Prints how the code of these classes differs from the class files in `path` (a file, directory
 * or jar).  Differences are not an error; a class that cannot be compared is one (EXIT_PARTIAL).
 */
int dump_diff(const struct ctx *ctx, struct class_index *index, const char *path,
	      struct err *err) _must_check_;

#endif
