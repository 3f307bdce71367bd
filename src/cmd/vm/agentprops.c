/* The command agentprops: prints the JVM's agent properties (VMSupport.getAgentProperties). */
#include "cmd/vm/print_props.h"

static int run(struct ctx *ctx, struct err *err)
{
	return print_props(ctx, "agentProperties", err);
}

const struct cmd cmd_agentprops = {
	.name = "agentprops",
	.synopsis = "[TARGET] [NAME|GLOB]",
	.summary = "print agent properties: the JVM's arguments and main class",
	.examples = (const struct example[]){
		{ "agentprops 4711", "every agent property" },
		{ NULL, NULL },
	},
	.details = "NAME and GLOB select properties as in 'jtool props'.\n",
	.need = NEED_JVM,
	.only_looks = true,
	.takes_all = true,
	.max_args = 1,
	.free_words = -1,
	.run = run,
};
