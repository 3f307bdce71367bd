/*
 * jtool: look into a running HotSpot JVM, and change it, without harming it.
 *
 * The one place that ends the process.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>

#include "all.h"
#include "base/io.h"
#include "base/xalloc.h"
#include "cmd.h"
#include "complete.h"
#include "config.h"
#include "habits.h"
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
		return err_set(err, EXIT_USAGE, "too many arguments: jtool %s%s%s", cmd->name,
			       cmd->synopsis[0] ? " " : "", cmd->synopsis);
	return 0;
}

/* No JVM is called so: names are those of classes and of jars. */
static bool is_dump(const char *target)
{
	static const char *const ends[] = { ".hprof", ".hprof.gz" };
	size_t len = strlen(target);

	for (size_t i = 0; i < ARRAY_SIZE(ends); i++) {
		size_t n = strlen(ends[i]);

		if (len > n && strcmp(target + len - n, ends[i]) == 0)
			return true;
	}
	return strchr(target, '/') != NULL;
}

static int run_on_target(struct ctx *ctx, const char *target, struct err *err)
{
	const struct cmd *cmd = ctx->cmd;
	struct jvm *jvm;
	int rc;

	if (cmd->takes_dump && (is_dump(target) || (cmd->is_file && cmd->is_file(target)))) {
		ctx->file = target;
		return cmd->run(ctx, err);
	}
	jvm = target_resolve(target, stderr, err);
	if (!jvm)
		return -1;
	steps_add(ctx->steps, "found JVM %d", (int)jvm->pid);
	ctx->jvm = jvm;
	rc = cmd->run(ctx, err);
	jvm_free(jvm);
	return rc;
}

static int run_command(const struct cmd *cmd, char **argv, int argc, struct err *err)
{
	struct common_opts common = { .timeout_ms = 10000 };
	struct steps steps = { io_now_ns() };
	_cleanup_free_ void *values = xcalloc(1, cmd->opts_size);
	const struct opt_set sets[2] = { { cmd->opts, values, cmd->dash_words },
					 { cmd_common_opts, &common, false } };
	struct ctx ctx = { .cmd = cmd, .opts = values, .out = stdout };
	int n;

	if (cmd->defaults)
		memcpy(values, cmd->defaults, cmd->opts_size);
	n = opt_parse(sets, argv, argc, cmd->free_words, err);
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
		ctx.all = strcmp(argv[0], "all") == 0;
	}
	/* As a part of a name it would have the heap of `Installer` dumped. */
	if (ctx.all && !cmd->takes_all)
		return err_set(err, EXIT_USAGE,
			       "it takes one JVM, not 'all': name a pid or a main class; "
			       "jtool list shows them");
	if (cmd->check && cmd->check(&ctx, err) < 0)
		return -1;
	if (ctx.all)
		return all_run(&ctx, err);
	return cmd->need == NEED_JVM ? run_on_target(&ctx, argv[0], err) : cmd->run(&ctx, err);
}

static int run(int argc, char **argv, const struct cmd **cmd, struct err *err)
{
	_cleanup_free_ char **words = NULL;
	int n_words;

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
	words = habits_words(argc - 1, argv + 1, &n_words);
	*cmd = cmd_find(words[0], err);
	if (!*cmd)
		return -1;
	return run_command(*cmd, words + 1, n_words - 1, err);
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
	(void)signal(SIGCHLD, SIG_DFL); /* ignored, it would let no child be waited for */
	if (run(argc, argv, &cmd, &err) == 0)
		(void)flush_results(&err);
	else
		(void)fflush(stdout); /* what was found so far; the error is told below */
	if (err.code != EXIT_DONE)
		cmd_tell(cmd, &err);
	return (int)err.code;
}
