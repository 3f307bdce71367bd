/*
 * info: all that can be told of one JVM without disturbing it.
 *
 * A JVM that publishes no counters is asked instead, by attach operations that need no
 * safepoint, unless the user does not want that.
 */
#include "cmd/info.h"

#include <string.h>

#include "base/xalloc.h"
#include "cmd/answer.h"
#include "target/cmdline.h"
#include "target/counters.h"
#include "target/describe.h"

#define ANSWER_MAX (1024u * 1024)

struct info_opts {
	bool no_attach;
};

/* clang-format off */
static const struct opt info_rows[] = {
	{ 0, "no-attach", OPT_FLAG, offsetof(struct info_opts, no_attach), NULL,
	  "do not ask a JVM that publishes no counters", NULL },
	OPT_END,
};
/* clang-format on */

static int read_counters(struct info *info, struct err *err)
{
	if (counters_read_once(info->jvm, &info->perf, err) < 0)
		return -1;
	info->counted = true;
	figures_read(&info->perf, &info->figures);
	return 0;
}

static bool can_be_asked(const struct info *info)
{
	return (info->vitals.attach == ATTACH_READY || info->vitals.attach == ATTACH_LISTENING) &&
	       !vitals_is_stopped(&info->vitals);
}

/* A JVM that does not know a command may know the next one; one that does not answer at all … */
static bool ask(const struct ctx *ctx, const char *command, struct buf *answer, struct err *err)
{
	struct err refused = { .code = EXIT_DONE };

	buf_reset(answer);
	if (err->code != EXIT_DONE) /* … is not asked again. */
		return false;
	if (answer_jcmd(ctx, command, ANSWER_MAX, answer, &refused) == 0)
		return true;
	if (refused.code != EXIT_ANSWER)
		*err = refused;
	return false;
}

/* Main and arguments are joined by blanks, and which is the first one is not told. */
static void split_command(struct told *told)
{
	char *rest = told->main;

	(void)strsep(&rest, " ");
	told->args = rest;
}

/* None of these commands needs a safepoint. */
static int ask_all(const struct ctx *ctx, struct told *told, struct err *err)
{
	_cleanup_buf_ struct buf answer = BUF_INIT;
	_cleanup_free_ char *max = NULL;

	if (ask(ctx, "VM.version", &answer, err))
		vmtold_version(buf_str(&answer), &told->vm, &told->release);
	if (ask(ctx, "VM.command_line", &answer, err)) {
		told->flags = vmtold_line(buf_str(&answer), "jvm_args");
		told->main = vmtold_line(buf_str(&answer), "java_command");
		split_command(told);
	}
	if (ask(ctx, "GC.heap_info", &answer, err))
		vmtold_heap(buf_str(&answer), &told->heap);
	if (ask(ctx, "VM.flags", &answer, err)) {
		told->gc = describe_gc_flag(buf_str(&answer));
		max = flags_value(buf_str(&answer), "-XX:MaxHeapSize=");
	}
	if (max)
		told->heap.max = strtonum(max, 0, INT64_MAX, NULL);
	return err->code == EXIT_DONE ? 0 : -1;
}

static void ask_instead(const struct ctx *ctx, struct info *info)
{
	struct err err = { .code = EXIT_DONE };

	steps_add(ctx->steps, "%s", info->why_not);
	info->instead = ask_all(ctx, &info->told, &err) == 0
				? xstrdup("the JVM itself, by attaching")
				: xasprintf("the JVM itself, without success: %s", err.text);
}

static int gather(const struct ctx *ctx, struct info *info, struct err *err)
{
	const struct info_opts *opts = ctx->opts;
	struct err failed = { .code = EXIT_DONE };

	if (read_counters(info, &failed) == 0)
		return 0;
	if (failed.code == EXIT_PARTIAL) {
		*err = failed;
		return -1;
	}
	info->why_not = xstrdup(failed.text);
	if (!opts->no_attach && failed.code != EXIT_ATTACH && can_be_asked(info))
		ask_instead(ctx, info);
	return 0;
}

static void show(const struct ctx *ctx, const struct info *info)
{
	struct sheet *sheet = info_sheet(info);

	if (ctx->json)
		json_print_take(sheet_json(sheet), ctx->out);
	else
		sheet_print(sheet, ctx->out);
	sheet_free(sheet);
}

static int info_run(struct ctx *ctx, struct err *err)
{
	struct info info = { .jvm = ctx->jvm, .told.heap = { -1, -1, -1, -1, -1 } };
	struct procfs proc;
	int rc = procfs_open(&proc, "/proc");

	if (rc < 0)
		return err_set(err, EXIT_PERMISSION, "/proc cannot be opened: %s", strerror(-rc));
	rc = vitals_read(&proc, ctx->jvm, &info.vitals, err);
	procfs_close(&proc);
	if (rc < 0)
		return -1;
	rc = gather(ctx, &info, err);
	if (rc == 0)
		show(ctx, &info);
	vitals_release(&info.vitals);
	perfdata_release(&info.perf);
	free(info.told.vm);
	free(info.told.release);
	free(info.told.main);
	free(info.told.flags);
	free(info.why_not);
	free(info.instead);
	return rc;
}

const struct cmd cmd_info = {
	.name = "info",
	.synopsis = "TARGET [--no-attach]",
	.summary = "all that can be told of a JVM without disturbing it",
	.details = "Read from /proc and the JVM's counters; nothing is sent to it.  Only a JVM\n"
		   "that publishes no counters is asked, unless --no-attach.\n",
	.need = NEED_JVM,
	.takes_all = true,
	.free_words = -1,
	.opts = info_rows,
	.opts_size = sizeof(struct info_opts),
	.run = info_run,
};
