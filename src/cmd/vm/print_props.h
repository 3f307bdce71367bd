/* Requests properties from the JVM and prints them, for the commands props and agentprops. */
#ifndef JTOOL_CMD_VM_PRINT_PROPS_H
#define JTOOL_CMD_VM_PRINT_PROPS_H

#include "cli/command.h"

/*
 * Sends the attach operation `op`, which returns all properties, and prints the properties as lines
 * NAME=VALUE.  If the command has an argument GLOB, prints only the properties whose names match;
 * if it has an argument NAME, prints only the value of that property.  Returns -1 with err set
 * (EXIT_ANSWER) if no property matches the argument.
 */
int print_props(const struct ctx *ctx, const char *op, struct err *err) _must_check_;

#endif
