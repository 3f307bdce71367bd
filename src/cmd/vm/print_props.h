/* Requests properties from the JVM and prints them, for the commands props and agentprops. */
#ifndef JTOOL_CMD_VM_PRINT_PROPS_H
#define JTOOL_CMD_VM_PRINT_PROPS_H

#include "cli/command.h"

/*
 * Sends the attach operation `op`, which returns all properties, and prints them as lines
 * NAME=VALUE.  With the argument GLOB, prints only matching properties; with NAME, prints only the
 * value of that property.  Returns -1 with err set (EXIT_ANSWER) if none matches.
 */
int print_props(const struct ctx *ctx, const char *op, struct err *err) _must_check_;

#endif
