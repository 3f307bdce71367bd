/*
 * The command info: shows the identity, state and resources of one JVM.
 *
 * If the JVM publishes no counters, runs diagnostic commands that need no safepoint; --no-attach
 * prevents that.
 */
#include "cmd/vm/info.h"

#include <string.h>

#include "base/xalloc.h"
#include "cmd/attach_call.h"
#include "discover/cmdline.h"
#include "discover/hsperf.h"
#include "discover/identify.h"

#define ANSWER_MAX (1024u * 1024)

struct info_opts {
	bool no_attach;
};

/* clang-format off */
static const struct opt info_rows[] = {
	{ 0, "no-attach", OPT_FLAG, offsetof(struct info_opts, no_attach), NULL,
	  "do not attach to a JVM that publishes no counters", NULL },
	OPT_END,
};
/* clang-format on */

static int read_counters(struct info *info, struct err *err)
{
	if (hsperf_read_once(info->jvm, &info->perf, err) < 0)
		return -1;
	info->has_counters = true;
	vm_stats_read(&info->perf, &info->stats);
	return 0;
}

static bool can_be_queried(const struct info *info)
{
	return (info->process.attach == ATTACH_READY ||
		info->process.attach == ATTACH_LISTENING) &&
	       !process_info_is_stopped(&info->process);
}

/*
 * Runs a diagnostic command, unless an earlier command has set err.  Returns true if the JVM has
 * answered.  If the JVM does not know the command, returns false without setting err, because the
 * JVM may know the next command.
 */
static bool query(const struct ctx *ctx, const char *command, struct buf *answer, struct err *err)
{
	struct err refused = { .code = EXIT_DONE };

	buf_reset(answer);
	if (err->code != EXIT_DONE)
		return false;
	if (attach_call_jcmd(ctx, command, ANSWER_MAX, answer, &refused) == 0)
		return true;
	if (refused.code != EXIT_ANSWER)
		*err = refused;
	return false;
}

/*
 * Splits answers->main at the first space into the main class and the arguments.  The JVM joins all
 * words with spaces and does not quote them, so a main class or jar with a space is cut at that
 * space.
 */
static void split_command(struct dcmd_answers *answers)
{
	char *rest = answers->main;

	(void)strsep(&rest, " ");
	answers->args = rest;
}

/* Runs diagnostic commands that need no safepoint, and parses their answers. */
static int query_all(const struct ctx *ctx, struct dcmd_answers *answers, struct err *err)
{
	_cleanup_buf_ struct buf answer = BUF_INIT;
	_cleanup_free_ char *max = NULL;

	if (query(ctx, "VM.version", &answer, err))
		dcmd_reply_version(buf_str(&answer), &answers->vm, &answers->release);
	if (query(ctx, "VM.command_line", &answer, err)) {
		answers->flags = dcmd_reply_line(buf_str(&answer), "jvm_args");
		answers->main = dcmd_reply_line(buf_str(&answer), "java_command");
		split_command(answers);
	}
	if (query(ctx, "GC.heap_info", &answer, err))
		dcmd_reply_heap(buf_str(&answer), &answers->heap);
	if (query(ctx, "VM.flags", &answer, err)) {
		answers->gc = identify_gc_flag(buf_str(&answer));
		max = flags_value(buf_str(&answer), "-XX:MaxHeapSize=");
	}
	if (max)
		answers->heap.max = strtonum(max, 0, INT64_MAX, NULL);
	return err->code == EXIT_DONE ? 0 : -1;
}

static void query_jvm(const struct ctx *ctx, struct info *info)
{
	struct err err = { .code = EXIT_DONE };

	verbose_step(ctx->steps, "%s", info->why_not);
	info->query_result = query_all(ctx, &info->answers, &err) == 0
				     ? xstrdup("the JVM, by attaching")
				     : xasprintf("the JVM, which failed: %s", err.text);
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
	if (!opts->no_attach && failed.code != EXIT_ATTACH && can_be_queried(info))
		query_jvm(ctx, info);
	return 0;
}

static void show(const struct ctx *ctx, const struct info *info)
{
	struct record *record = info_record(info);

	if (ctx->json)
		json_print_take(record_json(record), ctx->out);
	else
		record_print(record, ctx->out);
	record_free(record);
}

static int info_run(struct ctx *ctx, struct err *err)
{
	struct info info = { .jvm = ctx->jvm, .answers.heap = { -1, -1, -1, -1, -1 } };
	struct procfs proc;
	int rc = procfs_open(&proc, "/proc");

	if (rc < 0)
		return jvm_no_proc(rc, err);
	rc = process_info_read(&proc, ctx->jvm, &info.process, err);
	procfs_close(&proc);
	if (rc < 0)
		return -1;
	rc = gather(ctx, &info, err);
	if (rc == 0)
		show(ctx, &info);
	process_info_release(&info.process);
	perfdata_release(&info.perf);
	free(info.answers.vm);
	free(info.answers.release);
	free(info.answers.main);
	free(info.answers.flags);
	free(info.why_not);
	free(info.query_result);
	return rc;
}

const struct cmd cmd_info = {
	.name = "info",
	.synopsis = "[TARGET] [--no-attach]",
	.summary = "show what one JVM is, how it is doing, and which agents it has loaded",
	.examples = (const struct example[]){
		{ "info 4711", "one JVM, by process id" },
		{ "info Tomcat", "… by a part of its main class or jar" },
		{ NULL, NULL },
	},
	.details = "Reads /proc and the counters that the JVM publishes, and sends nothing to it.\n"
		   "A JVM that publishes no counters is attached to, unless --no-attach.\n",
	.need = NEED_JVM,
	.only_looks = true,
	.parses = true,
	.takes_all = true,
	.free_words = -1,
	.opts = info_rows,
	.opts_size = sizeof(struct info_opts),
	.run = info_run,
};
