/*
 * jcmd: any diagnostic command of the JVM, as the JDK's jcmd sends it.
 */
#include <string.h>

#include "cmd/answer.h"
#include "cmd/perf.h"

/* One blank between the words, which is how the JDK's jcmd joins them, too. */
static void join(struct buf *line, char *const *words, int n)
{
	for (int i = 0; i < n; i++) {
		if (i > 0)
			buf_addc(line, ' ');
		buf_adds(line, words[i]);
	}
}

/* The JDK's jcmd does this one itself: no JVM knows such a command. */
static int print_counters(const struct ctx *ctx, struct err *err)
{
	_cleanup_buf_ struct buf text = BUF_INIT;

	if (perf_text(ctx->jvm, &text, err) < 0)
		return -1;
	if (ctx->json)
		answer_print_json(ctx, 0, &text);
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
	return answer_show(ctx, &req, err);
}

const struct cmd cmd_jcmd = {
	.name = "jcmd",
	.synopsis = "TARGET [COMMAND [ARG...]]",
	.summary = "run a diagnostic command of the JVM; without COMMAND: list them",
	.details = "The JVM's output is printed byte for byte. What follows COMMAND is the\n"
		   "JVM's, options too: jtool jcmd 42 GC.class_histogram -all\n",
	.need = NEED_JVM,
	.takes_all = true,
	.max_args = -1,
	.free_words = 2,
	.run = jcmd_run,
};
