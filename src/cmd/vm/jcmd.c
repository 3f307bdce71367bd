/* jcmd: runs any diagnostic command of the JVM, like the JDK's jcmd. */
#include <string.h>

#include "cmd/attach_call.h"
#include "cmd/vm/perf.h"

/* Joins the words with single spaces, as the JDK's jcmd does. */
static void join(struct buf *line, char *const *words, int n)
{
	for (int i = 0; i < n; i++) {
		if (i > 0)
			buf_addc(line, ' ');
		buf_adds(line, words[i]);
	}
}

/* The JVM does not have PerfCounter.print: the JDK's jcmd prints the counters itself, too. */
static int print_counters(const struct ctx *ctx, struct err *err)
{
	_cleanup_buf_ struct buf text = BUF_INIT;

	if (perf_text(ctx->jvm, &text, err) < 0)
		return -1;
	if (ctx->json)
		attach_call_print_json(ctx, 0, &text);
	else
		fputs(buf_str(&text), ctx->out);
	return 0;
}

static int jcmd_run(struct ctx *ctx, struct err *err)
{
	_cleanup_buf_ struct buf line = BUF_INIT;
	const char *args[1];
	const struct attach_request req = { "jcmd", args, ARRAY_SIZE(args) };

	join(&line, ctx->args, ctx->n_args);
	if (strcmp(buf_str(&line), "PerfCounter.print") == 0)
		return print_counters(ctx, err);
	args[0] = line.len ? buf_str(&line) : "help";
	return attach_call_show(ctx, &req, err);
}

const struct cmd cmd_jcmd = {
	.name = "jcmd",
	.synopsis = "TARGET [COMMAND [ARG...]]",
	.summary = "run a diagnostic command of the JVM; without COMMAND: list them",
	.details = "Prints the JVM's output byte for byte; control characters are escaped on a\n"
		   "terminal.  Everything after COMMAND is passed to the JVM, also options:\n"
		   "jtool jcmd 42 GC.class_histogram -all\n",
	.need = NEED_JVM,
	.takes_all = true,
	.max_args = -1,
	.free_words = 2,
	.run = jcmd_run,
};
