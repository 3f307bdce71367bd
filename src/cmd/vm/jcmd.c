/* The command jcmd: runs any diagnostic command of the JVM, like the JDK's jcmd. */
#include <string.h>

#include "cmd/attach_call.h"
#include "cmd/vm/jcmd_file.h"
#include "cmd/vm/counters.h"

struct jcmd_opts {
	bool force;
};

static const struct opt jcmd_rows[] = {
	{ 0, "force", OPT_FLAG, offsetof(struct jcmd_opts, force), NULL,
	  "replace FILE in {FILE} if it exists", NULL },
	OPT_END,
};

/* Joins the words with single spaces, as the JDK's jcmd does. */
static void join(struct buf *line, char *const *words, int n)
{
	for (int i = 0; i < n; i++) {
		if (i > 0)
			buf_addc(line, ' ');
		buf_adds(line, words[i]);
	}
}

/*
 * Prints the counters, as the command PerfCounter.print requests.  The JVM has no such command:
 * like the JDK's jcmd, jtool reads the counters from hsperfdata and prints them itself.
 */
static int print_counters(const struct ctx *ctx, struct err *err)
{
	_cleanup_buf_ struct buf text = BUF_INIT;

	if (counters_text(ctx->jvm, &text, err) < 0)
		return -1;
	if (ctx->json)
		attach_call_print_json(ctx, 0, &text);
	else
		fputs(buf_str(&text), ctx->out);
	return 0;
}

/* Rejects invalid combinations of options before jtool looks for the JVM. */
static int jcmd_check(const struct ctx *ctx, struct err *err)
{
	_cleanup_buf_ struct buf line = BUF_INIT;
	struct dcmd_file file;
	int rc;

	join(&line, ctx->args, ctx->n_args);
	rc = dcmd_file_find(buf_str(&line), &file, err);
	if (rc == 0 && file.len > 0 && !file.is_input && ctx->all)
		rc = err_set(err, EXIT_USAGE,
			     "'all' cannot be combined with {FILE}: each JVM would write the file");
	if (rc == 0 && file.len > 0 && strcmp(file.path, "-") == 0 && ctx->json)
		rc = err_set(err, EXIT_USAGE,
			     "--json cannot be combined with {-}: both write to stdout; name a "
			     "file");
	dcmd_file_release(&file);
	return rc;
}

static int run_line(const struct ctx *ctx, const char *line, struct err *err)
{
	const struct jcmd_opts *opts = ctx->opts;
	const char *args[] = { *line ? line : "help" };
	const struct attach_request req = { "jcmd", args, ARRAY_SIZE(args) };
	struct dcmd_file file;
	int rc = dcmd_file_find(line, &file, err);

	if (rc == 0 && file.len > 0)
		rc = jcmd_file_run(ctx, line, &file, opts->force, err);
	else if (rc == 0)
		rc = attach_call_show(ctx, &req, err);
	dcmd_file_release(&file);
	return rc;
}

static int jcmd_run(struct ctx *ctx, struct err *err)
{
	_cleanup_buf_ struct buf line = BUF_INIT;

	join(&line, ctx->args, ctx->n_args);
	if (strcmp(buf_str(&line), "PerfCounter.print") == 0)
		return print_counters(ctx, err);
	return run_line(ctx, buf_str(&line), err);
}

const struct cmd cmd_jcmd = {
	.name = "jcmd",
	.synopsis = "TARGET [COMMAND [ARG...]]",
	.summary = "run a diagnostic command of the JVM; without COMMAND: list them",
	.examples = (const struct example[]){
		{ "jcmd 4711", "lists the diagnostic commands" },
		{ "jcmd 4711 VM.native_memory summary", "runs one of them" },
		{ "jcmd 4711 Thread.dump_to_file {threads.txt}", "{FILE} is a file of yours" },
		{ NULL, NULL },
	},
	.details =
		"Prints the JVM's output byte for byte; control characters are escaped on a\n"
		"terminal.  Everything after COMMAND is passed to the JVM, also options:\n"
		"    jtool jcmd 42 GC.class_histogram -all\n"
		"\n"
		"{FILE} in an argument is a file of yours that the JVM writes or reads:\n"
		"    jtool jcmd 42 Thread.dump_to_file -format=json {threads.json}\n"
		"    jtool jcmd 42 Compiler.directives_add {directives.json}\n",
	.need = NEED_JVM,
	.takes_all = true,
	.max_args = -1,
	.free_words = 2,
	.opts = jcmd_rows,
	.opts_size = sizeof(struct jcmd_opts),
	.check = jcmd_check,
	.run = jcmd_run,
};
