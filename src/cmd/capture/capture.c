/*
 * The command capture: collects in one archive what a support case needs.
 *
 * Each file of the archive is the output of one command of jtool, which runs in a child process.
 * If a command fails, hangs or is killed, only its own file is missing.
 */
#include <string.h>

#include "archive/tar_gz.h"
#include "cli/stop_signals.h"
#include "cmd/capture/capture.h"
#include "cmd/default_path.h"

#define AT(member) offsetof(struct capture_opts, member)

static const struct opt capture_rows[] = {
	{ 0, "jfr", OPT_FLAG, AT(jfr), NULL, "also a flight recording of 30 seconds", NULL },
	{ 0, "heap", OPT_FLAG, AT(heap), NULL, "also a heap dump without any values", NULL },
	{ 0, "no-mask", OPT_FLAG, AT(no_mask), NULL, "do not replace secrets by asterisks", NULL },
	{ 0, "force", OPT_FLAG, AT(force), NULL, "replace FILE if it exists", NULL },
	OPT_END,
};

static int fill(struct capture *c, struct err *err)
{
	uint64_t size;
	size_t n_files;
	int rc = capture_run(c, err);

	if (rc == 0)
		rc = capture_add_readme(c, err);
	progress_end(&c->line);
	if (rc < 0)
		return -1;
	rc = tar_gz_end(c->out.fd);
	if (rc < 0)
		return atomic_file_failed(&c->out, rc, err);
	if (atomic_file_commit(&c->out, &size, err) < 0)
		return -1;
	n_files = 1 + c->environment.is_there + c->n_logs;
	for (size_t i = 0; i < CAPTURE_ITEMS; i++)
		n_files += c->results[i].is_there;
	capture_print(c, size, n_files);
	return capture_conclude(c, err);
}

static int run(struct ctx *ctx, struct err *err)
{
	const struct capture_opts *opts = ctx->opts;
	_cleanup_free_ char *name =
		ctx->n_args > 0 ? NULL : default_path(ctx->jvm, "capture", ".tar.gz");
	struct capture c = { .ctx = ctx, .opts = opts };
	int rc;

	for (size_t i = 0; i < CAPTURE_ITEMS; i++)
		c.results[i].code = -1;
	if (atomic_file_open(&c.out, name ? name : ctx->args[0],
			     ATOMIC_FILE_BINARY | (opts->force ? ATOMIC_FILE_REPLACE : 0), 0600,
			     err) < 0)
		return -1;
	stop_signals(&c.signals);
	(void)sigprocmask(SIG_BLOCK, &c.signals, &c.old);
	if (!ctx->steps)
		progress_begin(&c.line);
	rc = fill(&c, err);
	(void)sigprocmask(SIG_SETMASK, &c.old, NULL);
	atomic_file_release(&c.out);
	capture_release(&c);
	return rc;
}

static int check(const struct ctx *ctx, struct err *err)
{
	if (ctx->json && ctx->n_args > 0 && strcmp(ctx->args[0], "-") == 0)
		return err_json_and_stdout(err);
	return 0;
}

const struct cmd cmd_capture = {
	.name = "capture",
	.synopsis = "TARGET [FILE.tar.gz]",
	.summary = "collect what a support case needs in one archive, without secrets",
	.examples = (const struct example[]){
		{ "capture 4711", "to capture-NAME-PID-TIME.tar.gz" },
		{ "capture 4711 --jfr case.tar.gz", "with a flight recording" },
		{ "capture 4711 - >case.tar.gz", "to stdout, for kubectl exec" },
		{ NULL, NULL },
	},
	.details =
		"The archive has info, list, flags, properties, environment, memory, three thread\n"
		"dumps 5 seconds apart, a class histogram, 10 seconds of stat, and the logs.\n"
		"README.txt in it says what each file has cost the JVM.  Takes about 25 seconds.\n"
		"Values whose names look like passwords, tokens or keys are replaced.\n\n"
		"threads, memory, heaphisto and stat show an archive again.\n",
	.need = NEED_JVM,
	.max_args = 1,
	.free_words = -1,
	.opts = capture_rows,
	.opts_size = sizeof(struct capture_opts),
	.check = check,
	.run = run,
};
