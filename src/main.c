/*
 * jtool: look into a running HotSpot JVM, and change it, without harming it.
 *
 * The one place that prints an error and the one place that ends the process.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>

#include "base/io.h"
#include "base/text.h"
#include "base/xalloc.h"
#include "cmd.h"
#include "complete.h"
#include "config.h"
#include "target/resolve.h"

/* Results that could not be written are an error: a full disk, a closed pipe. */
static int flush_results(struct err *err)
{
	errno = 0;
	if (fflush(stdout) == 0 && !ferror(stdout))
		return 0;
	return err_set(err, EXIT_PARTIAL, "the result could not be written to stdout: %s",
		       errno ? strerror(errno) : "write error");
}

static int check_words(const struct cmd *cmd, int n, struct err *err)
{
	int target = cmd->need == NEED_JVM;

	if (target && n < 1)
		return err_set(err, EXIT_USAGE,
			       "no TARGET given: name a pid or a main class; "
			       "jtool list shows them");
	if (n - target < cmd->min_args)
		return err_set(err, EXIT_USAGE, "too few arguments: jtool %s %s", cmd->name,
			       cmd->synopsis);
	if (cmd->max_args >= 0 && n - target > cmd->max_args)
		return err_set(err, EXIT_USAGE, "too many arguments: jtool %s %s", cmd->name,
			       cmd->synopsis);
	return 0;
}

static void tell(const struct cmd *cmd, const struct err *err)
{
	fprintf(stderr, "jtool: %s%s%s\n", cmd ? cmd->name : "", cmd ? ": " : "", err->text);
}

/* With a heading, unless the document itself names the JVM. */
static int run_on_one(struct ctx *ctx, const struct jvm *jvm, struct err *err)
{
	_cleanup_free_ char *name = text_printable_str(jvm->main ? jvm->main : "-");

	if (!ctx->json)
		fprintf(ctx->out, "%d %s:\n", (int)jvm->pid, name);
	ctx->jvm = jvm;
	if (flush_results(err) < 0 || ctx->cmd->run(ctx, err) < 0)
		return -1;
	return flush_results(err);
}

/*
 * Each JVM in turn.  What goes wrong with one is told at once and does not keep the others from
 * their turn, unless it would go wrong with every one.
 */
static int run_on_all(struct ctx *ctx, struct err *err)
{
	struct jvm_list list;
	enum exit_code code = EXIT_DONE;
	size_t failed = 0;

	if (target_all(&list, err) < 0)
		return -1;
	for (size_t i = 0; i < list.n; i++) {
		struct err one = { .code = EXIT_DONE };

		if (run_on_one(ctx, list.jvms[i], &one) == 0)
			continue;
		if (one.code == EXIT_USAGE || ferror(ctx->out)) {
			*err = one;
			break;
		}
		err_prefix(&one, "%d", (int)list.jvms[i]->pid);
		tell(ctx->cmd, &one);
		code = failed++ == 0 ? one.code : code;
	}
	if (failed > 0 && err->code == EXIT_DONE)
		(void)err_set(err, failed < list.n ? EXIT_PARTIAL : code,
			      "%zu of %zu JVMs gave no result", failed, list.n);
	jvm_list_release(&list);
	return err->code == EXIT_DONE ? 0 : -1;
}

static int run_command(const struct cmd *cmd, char **argv, int argc, struct err *err)
{
	struct common_opts common = { .timeout_ms = 10000 };
	struct steps steps = { io_now_ns() };
	struct jvm *jvm = NULL;
	_cleanup_free_ void *values = xcalloc(1, cmd->opts_size);
	const struct opt_set sets[2] = { { cmd->opts, values }, { cmd_common_opts, &common } };
	struct ctx ctx = { .cmd = cmd, .opts = values, .out = stdout };
	int rc, n = opt_parse(sets, argv, argc, cmd->free_words, err);

	if (n < 0)
		return -1;
	if (common.help) {
		cmd_help(cmd, stdout);
		return 0;
	}
	if (check_words(cmd, n, err) < 0)
		return -1;
	ctx.json = common.json;
	ctx.timeout_ms = common.timeout_ms;
	ctx.steps = common.verbose ? &steps : NULL;
	ctx.args = argv;
	ctx.n_args = n;
	if (cmd->need == NEED_JVM) {
		ctx.args++;
		ctx.n_args--;
		ctx.all = cmd->takes_all && strcmp(argv[0], "all") == 0;
	}
	if (cmd->check && cmd->check(&ctx, err) < 0)
		return -1;
	if (ctx.all)
		return run_on_all(&ctx, err);
	if (cmd->need == NEED_JVM) {
		jvm = target_resolve(argv[0], stderr, err);
		if (!jvm)
			return -1;
		steps_add(ctx.steps, "found JVM %d", (int)jvm->pid);
		ctx.jvm = jvm;
	}
	rc = cmd->run(&ctx, err);
	jvm_free(jvm);
	return rc;
}

static int run(int argc, char **argv, const struct cmd **cmd, struct err *err)
{
	if (argc < 2) {
		cmd_help_all(stderr);
		return err_set(err, EXIT_USAGE, "no command given");
	}
	if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 ||
	    (strcmp(argv[1], "help") == 0 && argc == 2)) {
		cmd_help_all(stdout);
		return 0;
	}
	if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-V") == 0) {
		printf("jtool %s\n", PACKAGE_VERSION);
		return 0;
	}
	if (strcmp(argv[1], "--completion") == 0)
		return complete_print(argc > 2 ? argv[2] : "", stdout, err);
	if (strcmp(argv[1], "help") == 0) {
		*cmd = cmd_find(argv[2], err);
		if (!*cmd)
			return -1;
		cmd_help(*cmd, stdout);
		return 0;
	}
	if (argv[1][0] == '-')
		return err_set(err, EXIT_USAGE, "%s: unknown option; the command comes first",
			       argv[1]);
	*cmd = cmd_find(argv[1], err);
	if (!*cmd)
		return -1;
	return run_command(*cmd, argv + 2, argc - 2, err);
}

/*
 * Where we were started without stdin, stdout or stderr, what we open must not get their numbers:
 * results would go into the JVM's socket.  Read-only, so that a result still cannot be written.
 */
static void occupy_stdio(void)
{
	int fd;

	do
		fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	while (fd >= 0 && fd <= STDERR_FILENO);
	util_close_p(&fd);
}

int main(int argc, char **argv)
{
	struct err err = { .code = EXIT_DONE };
	const struct cmd *cmd = NULL;

	occupy_stdio();
	(void)signal(SIGPIPE, SIG_IGN); /* a closed pipe is seen as a failed write */
	(void)signal(SIGXFSZ, SIG_IGN); /* and so is the limit of a file's size */
	if (run(argc, argv, &cmd, &err) == 0)
		(void)flush_results(&err);
	else
		(void)fflush(stdout); /* what was found so far; the error is told below */
	if (err.code != EXIT_DONE)
		tell(cmd, &err);
	return (int)err.code;
}
