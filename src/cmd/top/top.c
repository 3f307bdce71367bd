/*
 * The command top: shows again and again what the threads of a JVM, or all JVMs, are using.  On a
 * terminal it draws a table; elsewhere it prints a table or a JSON document at every interval.
 *
 * Reads CPU times from /proc, and collections, allocation and safepoints from the JVM's counters:
 * these need no request to the JVM.  The names of threads need one: a thread dump, which is
 * requested once, and again when threads have started.
 */
#include "cmd/top/top.h"

#include <limits.h>
#include <stdlib.h>

#include "cli/parse_duration.h"
#include "cmd/top/top_terminal.h"

#define INTERVAL_MS 1000

#define AT(member) offsetof(struct top_opts, member)

static const struct opt top_rows[] = {
	{ 'd', "duration", OPT_SECONDS, AT(duration_ms), "TIME", "stop after this time", NULL },
	{ 'c', "count", OPT_NUMBER, AT(count), "COUNT", "stop after so many tables", NULL },
	OPT_LIMIT_ROW(AT(limit), "20"),
	{ 0, "sort", OPT_CHOICE, AT(sort), "KEY", "sort by this column (default cpu)",
	  top_sort_names },
	{ 0, "filter", OPT_TEXT, AT(filter), "GLOB", "only threads, or JVMs, whose name matches",
	  NULL },
	{ 0, "state", OPT_TEXT, AT(state), "STATE",
	  "only threads in this state, such as running or sleeping", NULL },
	OPT_END,
};

static int parse_pace(const struct ctx *ctx, struct top_pace *pace, struct err *err)
{
	const struct top_opts *opts = ctx->opts;
	const char *problem;

	*pace = (struct top_pace){ INTERVAL_MS, opts->count };
	if (ctx->n_args > 0 && (parse_duration(ctx->args[0], 1000, &pace->interval_ms) < 0 ||
				pace->interval_ms == 0))
		return err_set(err, EXIT_USAGE,
			       "invalid interval '%s': expected a time such as 500ms or 2s; a bare "
			       "number is in seconds",
			       ctx->args[0]);
	if (ctx->n_args > 1 && opts->count > 0)
		return err_set(err, EXIT_USAGE,
			       "COUNT cannot be combined with --count: give one of them");
	if (ctx->n_args > 1) {
		pace->count = (unsigned)strtonum(ctx->args[1], 1, INT_MAX, &problem);
		if (problem)
			return err_set(err, EXIT_USAGE,
				       "invalid count '%s': expected the number of tables, at "
				       "least 1", ctx->args[1]);
	}
	return 0;
}

static int check(const struct ctx *ctx, struct err *err)
{
	const struct top_opts *opts = ctx->opts;
	struct top_pace pace;

	if (!ctx->all && opts->sort >= N_TOP_SORT_THREADS)
		return err_set(err, EXIT_USAGE,
			       "--sort %s is for JVMs: choose from cpu, time, name, id for "
			       "threads, or omit TARGET", top_sort_names[opts->sort]);
	if (ctx->all && opts->state)
		return err_set(err, EXIT_USAGE, "--state is for threads: name a JVM");
	if (opts->state && !top_thread_is_state(opts->state))
		return err_set(err, EXIT_USAGE,
			       "invalid --state '%s': expected running, sleeping, disk, stopped, "
			       "dead or idle", opts->state);
	return parse_pace(ctx, &pace, err);
}

/* Shows the JVMs in `list`, or the threads of ctx->jvm if `list` is NULL. */
static int show(const struct ctx *ctx, struct jvm_list *list, struct err *err)
{
	struct top_pace pace;
	struct top t;
	int rc;

	if (parse_pace(ctx, &pace, err) < 0 || top_begin(&t, ctx, err) < 0)
		return -1;
	if (list)
		top_show_jvms(&t, list);
	else
		top_show_threads(&t, ctx->jvm, NULL);
	rc = !ctx->json && top_terminal_is_usable() ? top_live(&t, &pace, err) :
						      top_stream(&t, &pace, err);
	top_end(&t);
	return rc;
}

static int run(struct ctx *ctx, struct err *err)
{
	return show(ctx, NULL, err);
}

/*
 * Shows all JVMs.  Does not use `jvms`, the caller's list, because top searches for JVMs itself,
 * again and again.
 */
static int run_on_all(struct ctx *ctx, const struct jvm_list *jvms, struct err *err)
{
	struct jvm_list none = { NULL, 0 };

	(void)jvms;
	return show(ctx, &none, err);
}

const struct cmd cmd_top = {
	.name = "top",
	.synopsis = "[TARGET|all] [INTERVAL [COUNT]]",
	.summary = "show live what the threads of a JVM, or all JVMs, use",
	.examples = (const struct example[]){
		{ "top", "all JVMs: CPU, GC, heap, allocation" },
		{ "top 4711", "the threads of one, the busiest first" },
		{ "top 4711 --json 5s 12", "a JSON document every 5 s, for a minute" },
		{ NULL, NULL },
	},
	.details =
		"On a terminal, the table is drawn again every INTERVAL (default 1s); the key ?\n"
		"shows the others.  Elsewhere, a table is printed at every INTERVAL, COUNT times\n"
		"or until it is interrupted.  CPU% is that of the last interval; 100 is one CPU.\n"
		"Names come from one thread dump; nothing else is sent to the JVM.\n",
	.need = NEED_JVM,
	.only_looks = true,
	.parses = true,
	.takes_all = true,
	.all_by_default = true,
	.max_args = 2,
	.free_words = -1,
	.opts = top_rows,
	.opts_size = sizeof(struct top_opts),
	.check = check,
	.run = run,
	.run_all = run_on_all,
};
