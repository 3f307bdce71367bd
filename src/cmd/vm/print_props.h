/* Requests properties from the JVM and prints them, for the commands props and agentprops. */
#ifndef JTOOL_CMD_VM_PRINT_PROPS_H
#define JTOOL_CMD_VM_PRINT_PROPS_H

#include "cli/command.h"

/*
 * Sends the attach operation `op`, which requests all properties.  Without an argument, prints all
 * as lines NAME=VALUE; with GLOB, those that match; with NAME, the value of that property.  Returns
 * -1 with EXIT_ANSWER set if none matches.
 */
int print_props(const struct ctx *ctx, const char *op, struct err *err) _must_check_;

#endif
