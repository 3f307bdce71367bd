/* Shell completion, made from the command and option rows, so that it cannot go stale. */
#ifndef JTOOL_COMPLETE_H
#define JTOOL_COMPLETE_H

#include <stdio.h>

#include "base/err.h"

/* Print the completion script for "bash", "zsh" or "fish".  0, or -1 with err set. */
int complete_print(const char *shell, FILE *out, struct err *err);

#endif
