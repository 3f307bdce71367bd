/* The command props: prints the system properties that the JVM has at present. */
#include "cmd/vm/print_props.h"

static int run(struct ctx *ctx, struct err *err)
{
	return print_props(ctx, "properties", err);
}

const struct cmd cmd_props = {
	.name = "props",
	.aliases = "sysprops",
	.synopsis = "[TARGET] [NAME|GLOB]",
	.summary = "print system properties",
	.examples = (const struct example[]){
		{ "props 4711", "every system property" },
		{ "props 4711 java.home", "one property" },
		{ NULL, NULL },
	},
	.details =
		"Prints lines NAME=VALUE; with NAME only its value, unescaped.\n",
	.need = NEED_JVM,
	.only_looks = true,
	.takes_all = true,
	.max_args = 1,
	.free_words = -1,
	.run = run,
};
