/* The command detach: restores everything that jtool has changed in a JVM. */
#include "cmd/other_sessions.h"
#include "cmd/redefine/patch_images.h"
#include "render/json.h"
#include "render/units.h"

#define NS_PER_MS 1000000
#define MS_PER_S 1000
#define NS_PER_S 1000000000

struct detach_opts {
	bool force;
};

static const struct opt detach_rows[] = {
	{ 0, "force", OPT_FLAG, offsetof(struct detach_opts, force), NULL,
	  "also end what other clients of jtool do, and the recording", NULL },
	OPT_END,
};

static struct json *activities_json(const struct activities *found)
{
	struct json *list = json_array();

	for (size_t i = 0; i < found->n; i++) {
		const struct activity *a = &found->list[i];
		struct json *row = json_object();
		uint64_t ms = a->ns / NS_PER_MS;

		json_put_text(row, "command", activity_command(a));
		json_put_bool(row, "recording", a->recording);
		json_put_real(row, "duration", (double)ms / MS_PER_S);
		json_put(list, NULL, row);
	}
	return list;
}

static void print_json(const struct ctx *ctx, size_t restored, const struct activities *found)
{
	const struct detach_opts *opts = ctx->opts;
	struct activities none = { 0 };
	struct json *doc = json_object();

	json_put_number(doc, "pid", ctx->jvm->pid);
	json_put_unsigned(doc, "restored", restored);
	json_put(doc, "ended", activities_json(opts->force ? found : &none));
	json_put(doc, "running", activities_json(opts->force ? &none : found));
	json_print_take(doc, ctx->out);
}

static void print_activity(const struct ctx *ctx, const struct activity *a)
{
	const struct detach_opts *opts = ctx->opts;
	_cleanup_buf_ struct buf time = BUF_INIT;

	units_seconds(&time, (int64_t)(a->ns / NS_PER_S));
	fprintf(ctx->out, "%s: %s%s, %s\n", opts->force ? "ended" : "still running",
		activity_command(a), a->recording ? " since the JVM's start" : " of another jtool",
		buf_str(&time));
}

static void print_text(const struct ctx *ctx, size_t restored, const struct activities *found)
{
	const struct detach_opts *opts = ctx->opts;

	if (restored > 0)
		fprintf(ctx->out, "restored: %zu %s\n", restored,
			restored == 1 ? "class" : "classes");
	else if (found->n == 0)
		fprintf(ctx->out, "jtool holds nothing in JVM %d\n", (int)ctx->jvm->pid);
	for (size_t i = 0; i < found->n; i++)
		print_activity(ctx, &found->list[i]);
	if (found->n > 0 && !opts->force)
		cmd_print_notice(ctx->cmd, "these end with the jtool commands that started "
					   "them%s; use --force to end them now",
				 found->list[found->n - 1].recording ? " or with the JVM" : "");
}

static int run(struct ctx *ctx, struct err *err)
{
	const struct detach_opts *opts = ctx->opts;
	struct patch_images_restore restore = { 0 };
	struct activities found = { 0 };
	int rc = patch_images_restore_selected(ctx, &restore, err);

	if (rc == 0)
		rc = other_sessions_find(ctx, opts->force, &found, err);
	if (rc == 0 && ctx->json)
		print_json(ctx, restore.n, &found);
	else if (rc == 0)
		print_text(ctx, restore.n, &found);
	activities_release(&found);
	return rc;
}

const struct cmd cmd_detach = {
	.name = "detach",
	.aliases = "reset",
	.synopsis = "TARGET",
	.summary = "end all that jtool does in the JVM: patches, traces, recordings",
	.examples = (const struct example[]){
		{ "detach 4711", "restores everything" },
		{ NULL, NULL },
	},
	.details =
		"Restores the classes that redefine has replaced.  Lists traces, profiles and\n"
		"recordings that are still running: each ends with the jtool command that started\n"
		"it, or now with --force.  A recording that the JVM was started with\n"
		"(-agentpath:...=alloc) then writes its report.\n",
	.need = NEED_JVM,
	.parses = true,
	.takes_all = true,
	.free_words = -1,
	.opts = detach_rows,
	.opts_size = sizeof(struct detach_opts),
	.run = run,
};
