/*
 * What is left out, by the reason why: a line each on stderr.
 */
#ifndef JTOOL_CMD_LEFTOUT_H
#define JTOOL_CMD_LEFTOUT_H

#include "cmd.h"

struct leftout_reason {
	char *why;
	char **names;
	size_t n, cap;
};

struct leftout {
	struct leftout_reason *list;
	size_t n, cap;
};

/* Both are copied. */
void leftout_add(struct leftout *l, const char *why, const char *name);
/* "left out: WHY: A, B, C and 12 more"; all of them with --verbose. */
void leftout_tell(const struct ctx *ctx, const struct leftout *l);
/* It is all there is: an error (EXIT_ANSWER), in one line where there is one reason.  -1. */
int leftout_refuse(const struct ctx *ctx, const struct leftout *l, const char *what,
		   struct err *err);
void leftout_release(struct leftout *l);

#endif
