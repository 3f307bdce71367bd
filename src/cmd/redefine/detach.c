/* The command detach: restores everything that jtool has changed in a JVM. */
#include "cmd/alloc_recording.h"
#include "cmd/redefine/patch_images.h"
#include "render/json.h"

static int run(struct ctx *ctx, struct err *err)
{
	struct patch_images_restore restore = { 0 };

	if (patch_images_restore_selected(ctx, &restore, err) < 0)
		return -1;
	if (alloc_recording_is_on(ctx))
		cmd_print_notice(ctx->cmd,
				 "JVM %d was started with an allocation recording, which continues "
				 "until the JVM exits", (int)ctx->jvm->pid);
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
		fprintf(ctx->out, "restored: %zu %s\n", restore.n,
			restore.n == 1 ? "class" : "classes");
	return 0;
}

const struct cmd cmd_detach = {
	.name = "detach",
	.synopsis = "TARGET",
	.summary = "restore everything that jtool has changed in the JVM",
	.details =
		"Restores the classes that redefine has replaced.  Everything else ends with the\n"
		"jtool command that began it.  A recording that the JVM was started with\n"
		"(-agentpath:...=alloc) continues until the JVM exits.\n",
	.need = NEED_JVM,
	.takes_all = true,
	.free_words = -1,
	.run = run,
};
