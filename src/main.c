/* Parses the command line, runs one command, and prints the error if the command fails. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <wchar.h>

#include "cli/run_all.h"
#include "fileio/disk_room.h"
#include "fileio/file_open.h"
#include "fileio/io.h"
#include "base/strview.h"
#include "base/xalloc.h"
#include "cli/command.h"
#include "cli/completion.h"
#include "config.h"
#include "cli/compat_args.h"
#include "cli/parse_duration.h"
#include "discover/memory_check.h"
#include "discover/resolve.h"
#include "embedded/embedded.h"
#include "sandbox/sandbox.h"

/*
 * Writes the rest of the result to stdout.  Returns 0; or -1 with err set if stdout has not
 * accepted the complete result, for example because the disk is full or the pipe was closed.
 */
static int flush_results(struct err *err)
{
	struct pollfd pfd = { .fd = STDOUT_FILENO, .events = POLLOUT };

	errno = 0;
	if (fflush(stdout) == 0 && !ferror(stdout))
		return 0;
	/* errno 0 means that an earlier write has failed; POLLERR, that the pipe has no reader. */
	if (errno == 0)
		errno = poll(&pfd, 1, 0) == 1 && (pfd.revents & POLLERR) ? EPIPE : EIO;
	return err_stdout(err, -errno);
}

/*
 * Ends the process by SIGPIPE, as other programs end when stdout has no reader.  Until now jtool
 * has ignored the signal, so that the command could first revert its changes in the JVM.
 */
static int end_by_sigpipe(void)
{
	sigset_t set;

	(void)sigemptyset(&set);
	(void)sigaddset(&set, SIGPIPE);
	(void)signal(SIGPIPE, SIG_DFL);
	(void)sigprocmask(SIG_UNBLOCK, &set, NULL);
	(void)raise(SIGPIPE);
	return EXIT_SIGPIPE;
}

static int check_arg_count(const struct cmd *cmd, int n, struct err *err)
{
	int target = cmd->need == NEED_JVM;

	if (target && n < 1)
		return err_set(err, EXIT_USAGE,
			       "missing TARGET: give a pid or a main class; "
			       "jtool list shows them");
	if (n - target < cmd->min_args)
		return err_set(err, EXIT_USAGE, "too few arguments: expected jtool %s %s",
			       cmd->name, cmd->synopsis);
	if (cmd->max_args >= 0 && n - target > cmd->max_args)
		return err_set(err, EXIT_USAGE, "too many arguments: expected jtool %s%s%s",
			       cmd->name, cmd->synopsis[0] ? " " : "", cmd->synopsis);
	return 0;
}

/*
 * Returns true if `target` is the path of a dump file, and not the name of a JVM: it contains '/'
 * or ends in .hprof or .hprof.gz.
 */
static bool is_dump_path(const char *target)
{
	return strview_has_suffix(target, ".hprof") || strview_has_suffix(target, ".hprof.gz") ||
	       strchr(target, '/') != NULL;
}

/* Returns true if `target` is a file that the command reads, and not the name of a JVM. */
static bool is_file(const struct cmd *cmd, const char *target)
{
	return cmd->takes_file &&
	       (is_dump_path(target) || (cmd->is_file && cmd->is_file(target)));
}

/* Refuses a target with the name of a file that the command cannot read. */
static int refuse_file(const struct cmd *cmd, const char *target, struct err *err)
{
	static const char *const ends[] = { ".hprof", ".hprof.gz", ".tar.gz", ".jfr" };
	bool found = false;

	for (size_t i = 0; i < ARRAY_SIZE(ends); i++)
		found |= strview_has_suffix(target, ends[i]);
	if (!found)
		return 0;
	if (cmd->takes_file)
		return err_set(err, EXIT_USAGE, "cannot read '%s': expected jtool %s %s", target,
			       cmd->name, cmd->synopsis);
	return err_set(err, EXIT_USAGE, "'%s' is a file, and jtool %s looks into a running JVM: "
					"give a pid or a main class", target, cmd->name);
}

/*
 * Returns true if the word cannot be a TARGET, because it is a glob, a duration such as the
 * INTERVAL of the command stat, or a JVM flag with its value.
 */
static bool is_surely_argument(const char *word)
{
	unsigned ms;

	return word[0] == '+' || word[0] == '-' || strpbrk(word, "*?=") != NULL ||
	       (strspn(word, "0123456789") < strlen(word) && parse_duration(word, 1, &ms) == 0);
}

/*
 * Returns true if the word can only be a TARGET.  If it is the only word, and the command needs an
 * argument besides TARGET, the argument is missing.
 */
static bool is_surely_target(const struct cmd *cmd, const char *word)
{
	return strcmp(word, "all") == 0 || strspn(word, "0123456789") == strlen(word) ||
	       (cmd->takes_file && is_dump_path(word));
}

/* Returns true if TARGET is missing.  `words`: the n words on the command line, without options. */
static bool omits_target(const struct cmd *cmd, const void *opts, char **words, int n)
{
	int least = cmd->least_args ? cmd->least_args(opts) : cmd->min_args;

	if (!cmd->only_looks || (n > 0 && is_surely_target(cmd, words[0])))
		return false;
	return n == least || (n > least && is_surely_argument(words[0]));
}

static void enter_sandbox(const struct ctx *ctx, enum sandbox_kind kind)
{
	int rc = sandbox_enter(kind);

	if (rc < 0)
		verbose_step(ctx->steps, "cannot give up system calls: %s", strerror(-rc));
}

/*
 * Returns -1 with err set if an argument that is not the first one is the pid of a JVM in the list.
 * Without this check, `jtool stat 1s 4711` would take 4711 samples of the only JVM.
 */
static int refuse_late_target(const struct ctx *ctx, const struct jvm_list *list, struct err *err)
{
	for (int i = 1; i < ctx->n_args; i++) {
		for (size_t k = 0; k < list->n; k++) {
			_cleanup_free_ char *pid = xasprintf("%d", (int)list->jvms[k]->pid);

			if (strcmp(ctx->args[i], pid) == 0)
				return err_set(err, EXIT_USAGE,
					       "'%s' is a JVM, and TARGET comes first: "
					       "jtool %s %s %s", pid, ctx->cmd->name, pid,
					       ctx->args[0]);
		}
	}
	return 0;
}

/*
 * Runs the command on the JVM that jtool can see.  Returns -1 with err set if jtool can see no JVM
 * or several JVMs.
 */
static int run_on_only_jvm(struct ctx *ctx, struct err *err)
{
	struct jvm_list list;
	int rc;

	if (resolve_all(&list, err) < 0)
		return -1;
	if (refuse_late_target(ctx, &list, err) < 0) {
		rc = -1;
	} else if (list.n == 1) {
		ctx->jvm = list.jvms[0];
		cmd_print_notice(ctx->cmd, "JVM %d%s%s", (int)ctx->jvm->pid,
				 ctx->jvm->main ? ": " : "", ctx->jvm->main ? ctx->jvm->main : "");
		rc = ctx->cmd->run(ctx, err);
	} else {
		rc = err_set(err, EXIT_USAGE,
			     "missing TARGET: %zu JVMs are running; give a pid or a main class; "
			     "jtool list shows them", list.n);
	}
	jvm_list_release(&list);
	return rc;
}

static int run_on_target(struct ctx *ctx, const char *target, struct err *err)
{
	const struct cmd *cmd = ctx->cmd;
	struct jvm *jvm;
	int rc;

	if (refuse_file(cmd, target, err) < 0)
		return -1;
	jvm = resolve_target(target, stderr, err);
	if (!jvm)
		return -1;
	verbose_step(ctx->steps, "found JVM %d", (int)jvm->pid);
	ctx->jvm = jvm;
	rc = cmd->run(ctx, err);
	jvm_free(jvm);
	return rc;
}

/* Returns true if the words contain --json.  Used for errors before the options are parsed. */
static bool has_json_option(char **argv, int argc)
{
	for (int i = 0; i < argc; i++) {
		if (strcmp(argv[i], "--json") == 0)
			return true;
	}
	return false;
}

/*
 * If the first argument is the command's verb, swaps it with the second one, TARGET, because other
 * commands have their verbs after TARGET.
 */
static void move_verb(const struct cmd *cmd, char **argv, int n)
{
	if (cmd->first_verb && n >= 2 && strcmp(argv[0], cmd->first_verb) == 0) {
		char *verb = argv[0];

		argv[0] = argv[1];
		argv[1] = verb;
	}
}

static int run_command(const struct cmd *cmd, char **argv, int argc, bool *json, struct err *err)
{
	struct common_opts common = { .timeout_ms = 10000 };
	struct verbose steps = { monotonic_ns() };
	_cleanup_free_ void *values = xcalloc(1, cmd->opts_size);
	const struct opt_set sets[2] = { { cmd->opts, values, cmd->dash_words },
					 { cmd_common_opts, &common, false } };
	struct ctx ctx = { .cmd = cmd, .opts = values, .out = stdout };
	bool is_implied;
	int n;

	if (cmd->defaults)
		memcpy(values, cmd->defaults, cmd->opts_size);
	n = opt_parse(sets, argv, argc, cmd->free_words, err);
	*json = common.json || (n < 0 && has_json_option(argv, argc));
	if (n < 0)
		return -1;
	if (common.help) {
		cmd_help(cmd, stdout);
		return 0;
	}
	move_verb(cmd, argv, n);
	is_implied = omits_target(cmd, values, argv, n);
	if (check_arg_count(cmd, n + is_implied, err) < 0)
		return -1;
	ctx.json = common.json;
	ctx.timeout_ms = common.timeout_ms;
	ctx.to_terminal = isatty(STDOUT_FILENO);
	ctx.steps = common.verbose ? &steps : NULL;
	ctx.args = argv;
	ctx.n_args = n;
	ctx.implied = is_implied;
	if (cmd->need == NEED_JVM)
		/*
		 * If memory runs out, the kernel should kill jtool, and not a JVM that is in the
		 * same control group as jtool.
		 */
		oom_score_raise();
	if (cmd->need == NEED_JVM && !is_implied) {
		ctx.args++;
		ctx.n_args--;
		ctx.all = strcmp(argv[0], "all") == 0;
	}
	if (is_implied && cmd->all_by_default)
		ctx.all = true;
	/* "all" never means a JVM whose name contains "all", such as `Installer`. */
	if (ctx.all && !cmd->takes_all)
		return err_set(err, EXIT_USAGE,
			       "'all' is not accepted here: give a pid or a main class; "
			       "jtool list shows them");
	if (cmd->check && cmd->check(&ctx, err) < 0)
		return -1;
	if (cmd->need == NEED_JVM && !is_implied && !ctx.all && is_file(cmd, argv[0]))
		ctx.file = argv[0];
	/*
	 * Enter the sandbox only for a command that parses binary data, because entering takes 3 %
	 * of the time of a command that only attaches to a JVM.
	 */
	if (cmd->parses || ctx.file)
		enter_sandbox(&ctx, SANDBOX_CLIENT);
	if (ctx.file)
		enter_sandbox(&ctx, SANDBOX_FILE);
	if (ctx.all)
		return run_on_all(&ctx, err);
	if (is_implied)
		return run_on_only_jvm(&ctx, err);
	return cmd->need == NEED_JVM && !ctx.file ? run_on_target(&ctx, argv[0], err)
						  : cmd->run(&ctx, err);
}

/*
 * Prints a manual page: jtool(1) if `subject` is "jtool", else the page jtool-SUBJECT.  `subject`
 * is a command, or another subject such as "json".
 */
static int print_manual(const char *subject, const struct cmd **cmd, struct err *err)
{
	_cleanup_free_ char *page = xasprintf("jtool-%s", subject);
	_cleanup_buf_ struct buf text = BUF_INIT;
	int rc = embedded_page(strcmp(subject, "jtool") == 0 ? subject : page, &text);

	if (rc == -ENOENT) {
		*cmd = cmd_find(compat_command(subject), err);
		if (!*cmd)
			return -1;
		free(page);
		page = xasprintf("jtool-%s", (*cmd)->name);
		rc = embedded_page(page, &text);
	}
	if (rc < 0)
		return err_set(err, EXIT_PARTIAL, "cannot unpack the manual: this copy of jtool is "
			       "damaged; install it again");
	(void)fwrite(text.data, 1, text.len, stdout); /* flush_results() reports a write error */
	return 0;
}

/*
 * Parses the command line and runs the command.  Returns 0, or -1 with err set.  Sets *json if the
 * caller must print an error as a JSON document.
 */
static int run(int argc, char **argv, const struct cmd **cmd, bool *json, struct err *err)
{
	_cleanup_free_ char **words = NULL;
	int n_words;

	*json = has_json_option(argv, argc);
	if (argc < 2) {
		cmd_help_all(stderr);
		return err_set(err, EXIT_USAGE, "missing COMMAND: give one of those listed above");
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
		return completion_print(argc > 2 ? argv[2] : "", stdout, err);
	if (strcmp(argv[1], "help") == 0) {
		return print_manual(argv[2], cmd, err);
	}
	if (argv[1][0] == '-')
		return err_set(err, EXIT_USAGE,
			       "option '%s' before the command: expected jtool COMMAND [OPTIONS]",
			       argv[1]);
	words = compat_args(argc - 1, argv + 1, &n_words);
	if (!cmd_is_name(words[0]) && n_words > 1 && cmd_is_name(words[1]))
		return err_set(err, EXIT_USAGE, "unknown command '%s': did you mean 'jtool %s %s'?",
			       words[0], words[1], words[0]);
	*cmd = cmd_find(words[0], err);
	if (!*cmd)
		return -1;
	return run_command(*cmd, words + 1, n_words - 1, json, err);
}

/*
 * Opens /dev/null for each of stdin, stdout and stderr that is closed.  Otherwise a socket that
 * jtool opens could get the descriptor number of stdout, and would receive the results.  /dev/null
 * is opened for reading only, so that a write of results to a closed stdout still fails.
 */
static void occupy_stdio(void)
{
	int fd;

	if (fcntl(STDIN_FILENO, F_GETFD) >= 0 && fcntl(STDOUT_FILENO, F_GETFD) >= 0 &&
	    fcntl(STDERR_FILENO, F_GETFD) >= 0)
		return;
	fd = file_open_null(O_RDONLY);
	for (int std = STDIN_FILENO; fd >= 0 && std <= STDERR_FILENO; std++) {
		if (fcntl(std, F_GETFD) < 0)
			/* If this fails, the descriptor stays closed. */
			(void)dup3(fd, std, O_CLOEXEC);
	}
	if (fd > STDERR_FILENO)
		(void)close(fd);
}

int main(int argc, char **argv)
{
	struct err err = { .code = EXIT_DONE };
	const struct cmd *cmd = NULL;
	bool json = false;

	sandbox_no_new_privileges();
	occupy_stdio();
	disk_room_set_memory(memory_left);
	(void)signal(SIGPIPE, SIG_IGN); /* a write to a closed pipe now fails with EPIPE */
	(void)signal(SIGXFSZ, SIG_IGN); /* a write beyond RLIMIT_FSIZE now fails with EFBIG */
	/* If SIGCHLD were ignored, waitpid(2) would find no children. */
	(void)signal(SIGCHLD, SIG_DFL);
	if (run(argc, argv, &cmd, &json, &err) == 0) {
		(void)flush_results(&err);
	} else if (err.is_verdict) {
		struct err lost = { .code = EXIT_DONE };

		/* The result, which is "no", is worth nothing if it was not written completely. */
		if (flush_results(&lost) < 0)
			err = lost;
	} else {
		/*
		 * Print the error as JSON only if fwide() returns 0, which means that nothing was
		 * written to stdout.  Otherwise stdout has the partial result, which is a JSON
		 * document, and must not get a second document.
		 */
		if (json && fwide(stdout, 0) == 0)
			cmd_print_error_json(0, &err, stdout);
		(void)fflush(stdout); /* a failure is ignored, because `err` has an earlier error */
	}
	if (err.code == EXIT_SIGPIPE)
		return end_by_sigpipe();
	if (err.code != EXIT_DONE)
		cmd_print_error(cmd, &err);
	return (int)err.code;
}
