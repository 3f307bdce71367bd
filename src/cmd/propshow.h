/*
 * Ask the JVM for a table of properties and show it.
 */
#ifndef JTOOL_CMD_PROPSHOW_H
#define JTOOL_CMD_PROPSHOW_H

#include "cmd.h"

/*
 * `op` is the attach operation that sends them.  Without an argument: all, NAME=VALUE one a
 * line; with a GLOB: those that match; with a NAME: its value.  None: EXIT_ANSWER.
 */
int propshow(const struct ctx *ctx, const char *op, struct err *err) _must_check_;

#endif
