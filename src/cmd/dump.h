/*
 * The part of the command dump that only looks.
 */
#ifndef JTOOL_CMD_DUMP_H
#define JTOOL_CMD_DUMP_H

#include "cmd/roster.h"

/*
 * dump --diff: how the code that these classes run differs from the class files that a FILE, DIR
 * or JAR holds of them.  A difference is a result; EXIT_PARTIAL when a class could not be
 * compared, after all others were.
 */
int dump_diff(const struct ctx *ctx, struct roster *roster, const char *path, struct err *err)
	_must_check_;

#endif
