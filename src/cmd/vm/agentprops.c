/*
 * agentprops: what the JVM tells agents about itself: its arguments, its main class.
 */
#include "cmd/propshow.h"

static int run(struct ctx *ctx, struct err *err)
{
	return propshow(ctx, "agentProperties", err);
}

const struct cmd cmd_agentprops = {
	.name = "agentprops",
	.synopsis = "TARGET [NAME|GLOB]",
	.summary = "agent properties: the JVM's arguments and main class",
	.details = "As props shows the system properties.\n",
	.need = NEED_JVM,
	.takes_all = true,
	.max_args = 1,
	.free_words = -1,
	.run = run,
};
