/*
 * props: the system properties of the JVM, as they are now.
 */
#include "cmd/propshow.h"

static int run(struct ctx *ctx, struct err *err)
{
	return propshow(ctx, "properties", err);
}

const struct cmd cmd_props = {
	.name = "props",
	.synopsis = "TARGET [NAME|GLOB]",
	.summary = "system properties",
	.details = "NAME=VALUE, one a line; with a NAME its value alone, as it is.  In a GLOB, *\n"
		   "stands for any characters and ? for one.\n",
	.need = NEED_JVM,
	.takes_all = true,
	.max_args = 1,
	.free_words = -1,
	.run = run,
};
