/*
 * The command trace: shows the calls of methods with their times, arguments and results, or sums
 * them up.
 */
#include "cmd/trace/trace.h"

#include <string.h>

#include "cmd/cost_note.h"
#include "cmd/redefinition_jvm.h"

#define AT(member) offsetof(struct trace_opts, member)

static const struct opt trace_rows[] = {
	OPT_GROUP("Which calls"),
	{ 0, "min", OPT_NANOS, AT(min_ns), "TIME",
	  "only calls that take at least TIME (10ms, 500us) or throw", NULL },
	{ 0, "loader", OPT_TEXT, AT(loader), "LOADER", "only classes of this loader", NULL },
	{ 0, "max-methods", OPT_NUMBER, AT(max_methods), "N",
	  "refuse to trace more than N methods (default 1000)", NULL },
	OPT_GROUP("How long"),
	{ 'd', "duration", OPT_SECONDS, AT(duration_ms), "TIME", "end after this time", NULL },
	{ 'c', NULL, OPT_NUMBER, AT(count), "COUNT",
	  "end after COUNT calls (default 10000 without -d; 0: never)", NULL },
	{ 0, "budget", OPT_NUMBER, AT(budget), "PERCENT",
	  "end when hooks use more CPU time (default 10; 0: never)", NULL },
	OPT_GROUP("What is shown"),
	{ 0, "args", OPT_FLAG, AT(args), NULL, "show arguments and results (default)", NULL },
	{ 0, "no-args", OPT_FLAG, AT(no_args), NULL, "times only: lowest overhead", NULL },
	{ 0, "strings", OPT_NUMBER, AT(strings), "N",
	  "show N characters of a string (default 100)", NULL },
	{ 0, "elements", OPT_NUMBER, AT(elements), "N", "show N elements of an array (default 5)",
	  NULL },
	{ 0, "stack", OPT_FLAG, AT(stack), NULL, "show the stack of each call", NULL },
	{ 0, "summary", OPT_FLAG, AT(summary), NULL,
	  "show number and times of calls by method, not each call", NULL },
	{ 0, "rate", OPT_NUMBER, AT(rate), "N",
	  "show at most N calls a second (default 200; 0: all)", NULL },
	OPT_GROUP("Files"),
	{ 0, "collapsed", OPT_TEXT, AT(paths[STACKFILE_COLLAPSED]), "FILE",
	  "write nanoseconds by stack for flamegraph.pl; implies --stack", NULL },
	{ 0, "no-lines", OPT_FLAG, AT(no_lines), NULL, "collapsed stacks without line numbers",
	  NULL },
	{ 0, "flamegraph", OPT_TEXT, AT(paths[STACKFILE_FLAMEGRAPH]), "FILE.html",
	  "write a flame graph of time and calls; implies --stack", NULL },
	{ 0, "pprof", OPT_TEXT, AT(paths[STACKFILE_PPROF]), "FILE.pb.gz",
	  "write a profile for go tool pprof; implies --stack", NULL },
	{ 0, "force", OPT_FLAG, AT(force), NULL, "replace FILE if it exists", NULL },
	OPT_END,
};

static const struct trace_opts defaults = {
	.count = TRACE_COUNT_UNSET,
	.rate = 200,
	.strings = 100,
	.elements = 5,
	.budget = 10,
	.max_methods = 1000,
};

static int check(const struct ctx *ctx, struct err *err)
{
	const struct trace_opts *opts = ctx->opts;
	struct trace_plan plan;
	int rc;

	if (opts->summary && (trace_has_stacks(opts) || opts->args))
		return err_set(err, EXIT_USAGE,
			       "--summary cannot be combined with %s: a summary shows no single "
			       "calls", opts->args ? "--args" : "stacks");
	if (stack_files_take_stdout(opts->paths))
		return err_set(err, EXIT_USAGE,
			       "stacks cannot go to stdout, where the calls are shown: write the "
			       "stacks to a file");
	if (opts->args && opts->no_args)
		return err_set(err, EXIT_USAGE,
			       "--args cannot be combined with --no-args: give one");
	if (opts->budget > 100)
		return err_set(err, EXIT_USAGE,
			       "invalid --budget: expected a percentage from 0 to 100, not %u",
			       opts->budget);
	if (opts->max_methods == 0 || opts->max_methods > WIRE_TRACE_METHODS_MAX)
		return err_set(err, EXIT_USAGE, "invalid --max-methods: expected 1 to %u",
			       WIRE_TRACE_METHODS_MAX);
	rc = trace_plan_init(&plan, ctx->args, (size_t)ctx->n_args, err);
	trace_plan_release(&plan);
	return rc;
}

static void print_cost(const struct ctx *ctx, const struct trace_plan *plan,
		       const struct session *s)
{
	_cleanup_buf_ struct buf text = BUF_INIT;

	if (!cost_note_is_due(ctx, s))
		return;
	cost_note_add(&text, &plan->jvm, plan->n_classes, plan->n_loaded, "the trace");
	cmd_print_notice(ctx->cmd, "the trace changes code: %s", buf_str(&text));
}

static int run_plan(const struct ctx *ctx, struct trace_plan *plan, struct trace_stacks *stacks,
		    struct err *err)
{
	const struct trace_opts *opts = ctx->opts;
	struct class_index index;
	int rc;

	if (class_index_open(ctx, 0, &index, err) < 0) {
		trace_offer_jfr(ctx, plan, err);
		return -1;
	}
	rc = redefinition_jvm_ask(ctx, &plan->jvm, err);
	if (rc == 0)
		rc = trace_plan_make(ctx, plan, &index, opts->loader, err);
	if (rc == 0) {
		print_cost(ctx, plan, index.session);
		rc = trace_run(ctx, plan, stacks, index.session, err);
	}
	return class_index_close(&index, err) < 0 ? -1 : rc;
}

static int run_patterns(const struct ctx *ctx, struct trace_stacks *stacks, struct err *err)
{
	const struct trace_opts *opts = ctx->opts;
	struct trace_plan plan;
	int rc = trace_plan_init(&plan, ctx->args, (size_t)ctx->n_args, err);

	plan.values = trace_has_values(opts);
	plan.max_methods = opts->max_methods;
	if (rc == 0)
		rc = run_plan(ctx, &plan, stacks, err);
	trace_plan_release(&plan);
	return rc;
}

/*
 * Runs the command.  Opens the output files first, so that a wrong path has no effect on the JVM.
 */
static int run(struct ctx *ctx, struct err *err)
{
	struct trace_stacks stacks;
	int rc = trace_stacks_open(&stacks, ctx->opts, err);

	if (rc == 0)
		rc = run_patterns(ctx, &stacks, err);
	trace_stacks_release(&stacks);
	return rc;
}

const struct cmd cmd_trace = {
	.name = "trace",
	.aliases = "watch monitor",
	.synopsis = "TARGET 'a.b.Class.method'...",
	.summary = "find slow calls: time, arguments and result of chosen methods",
	.examples = (const struct example[]){
		{ "trace 4711 'com.acme.Cart.add'", "each call, until Ctrl-C" },
		{ "trace 4711 'com.acme.*Dao.*' --min 10ms -d 30s", "slow calls in 30 seconds" },
		{ "trace 4711 'Cart.add' --stack -c 1", "one call, with its stack" },
		{ NULL, NULL },
	},
	.details =
		"Class and method may be globs.  Parameter types choose an overload:\n"
		"'a.b.C.m(java.lang.String, int[])'.  <init> is a constructor.  A call is printed\n"
		"when it ends, with the time when it began.  Calls that began before the trace\n"
		"are not seen; calls beyond --rate are counted.  The trace ends at Ctrl-C, -d or\n"
		"-c, or when its hooks use more CPU time than --budget; then all classes run\n"
		"their original code again, except in a loop that never ends.\n"
		"\n"
		"To find the classes: jtool threads TARGET --stack while a call is slow, or jtool\n"
		"classes TARGET 'com.acme.*'.  To see where a slow call spends its time, trace\n"
		"the classes that it calls, too, nested ones included:\n"
		"    jtool trace 4711 'com.acme.Cart*.*' 'com.acme.CartDao*.*' --min 10ms -d 30s\n"
		"Methods that are called a million times a second exceed --budget: leave their\n"
		"classes out.  --summary shows which these are.\n",
	.need = NEED_JVM,
	.parses = true,
	.min_args = 1,
	.max_args = -1,
	.free_words = -1,
	.opts = trace_rows,
	.opts_size = sizeof(struct trace_opts),
	.defaults = &defaults,
	.check = check,
	.run = run,
};
