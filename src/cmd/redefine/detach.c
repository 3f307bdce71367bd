/*
 * detach: undo everything that jtool holds in a JVM.
 */
#include "cmd/patched.h"
#include "cmd/recorded.h"
#include "render/json.h"

static int run(struct ctx *ctx, struct err *err)
{
	struct patched_restore restore = { 0 };

	if (patched_put_back(ctx, &restore, err) < 0)
		return -1;
	if (recorded_is_on(ctx))
		cmd_note(ctx->cmd, "JVM %d was started to have its allocations recorded, which "
			 "goes on until it ends", (int)ctx->jvm->pid);
	if (ctx->json) {
		struct json *doc = json_object();

		json_put_number(doc, "pid", ctx->jvm->pid);
		json_put_unsigned(doc, "restored", restore.n);
		json_print_take(doc, ctx->out);
		return 0;
	}
	if (restore.n == 0)
		fprintf(ctx->out, "jtool holds nothing in JVM %d\n", (int)ctx->jvm->pid);
	else
		fprintf(ctx->out, "put back: %zu %s\n", restore.n,
			restore.n == 1 ? "class" : "classes");
	return 0;
}

const struct cmd cmd_detach = {
	.name = "detach",
	.synopsis = "TARGET",
	.summary = "undo everything that jtool holds in the JVM",
	.details =
		"Puts back what redefine has replaced.  Everything else that jtool does ends by\n"
		"itself when jtool does.  What a JVM was started with, -agentpath:...=alloc, goes\n"
		"on until the JVM ends.\n",
	.need = NEED_JVM,
	.takes_all = true,
	.free_words = -1,
	.run = run,
};
