/*
 * The command op: sends any operation of the attach protocol, and prints the JVM's answer
 * unchanged.
 */
#include "cmd/attach_call.h"

static int check(const struct ctx *ctx, struct err *err)
{
	return ctx->args[0][0] ? 0 : err_set(err, EXIT_USAGE,
					     "OPERATION is empty: give one such as properties or "
					     "threaddump");
}

static int op_run(struct ctx *ctx, struct err *err)
{
	const struct attach_request req = {
		.op = ctx->args[0],
		.args = (const char *const *)ctx->args + 1,
		.n_args = (size_t)ctx->n_args - 1,
	};

	return attach_call_show(ctx, &req, err);
}

const struct cmd cmd_op = {
	.name = "op",
	.verbs = "agentProperties datadump dumpheap getversion inspectheap jcmd load printflag "
		 "properties setflag threaddump",
	.synopsis = "TARGET OPERATION [ARG...]",
	.summary = "send a raw operation of the attach protocol",
	.examples = (const struct example[]){
		{ "op 4711 threaddump", "the attach operation of that name" },
		{ "op 4711 printflag MaxHeapSize", "with an argument" },
		{ NULL, NULL },
	},
	.details = "Operations: properties, agentProperties, datadump, threaddump, dumpheap,\n"
		   "inspectheap, load, printflag, setflag, jcmd, and others that the JVM knows.\n",
	.need = NEED_JVM,
	.min_args = 1,
	.max_args = -1,
	.free_words = 2,
	.check = check,
	.run = op_run,
};
