/* Requests a table of properties from the JVM and prints it; for `props` and `agentprops`. */
#ifndef JTOOL_CMD_VM_PRINT_PROPS_H
#define JTOOL_CMD_VM_PRINT_PROPS_H

#include "cli/command.h"

/*
 * Sends the attach operation `op`.  Prints lines NAME=VALUE of all properties, or of those that
 * match the argument GLOB, or the value of the argument NAME.  EXIT_ANSWER if none matches.
 */
int print_props(const struct ctx *ctx, const char *op, struct err *err) _must_check_;

#endif
