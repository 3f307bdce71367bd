/* Shell completion, which jtool generates from the command table and from the option rows. */
#ifndef JTOOL_CLI_COMPLETION_H
#define JTOOL_CLI_COMPLETION_H

#include <stdio.h>

#include "base/err.h"

/* Prints the completion script for `shell`: bash, zsh or fish.  Returns 0, or -1 with err set. */
int completion_print(const char *shell, FILE *out, struct err *err);

#endif
