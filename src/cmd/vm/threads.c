/* threads: prints a thread dump, like jstack. */
#include <string.h>

#include "cmd/attach_call.h"

#define HELP_MAX 65536

struct threads_opts {
	bool locks, extended;
};

#define AT(member) offsetof(struct threads_opts, member)

static const struct opt threads_rows[] = {
	{ 'l', "locks", OPT_FLAG, AT(locks), NULL, "print java.util.concurrent locks, too",
	  NULL },
	{ 'e', "extended", OPT_FLAG, AT(extended), NULL,
	  "print the bytes that each thread has allocated, too (JDK 11)", NULL },
	OPT_END,
};

/* JVMs without JDK-8200720 (JDK 11) ignore -e and -le; their help lists the known options. */
static int check_extended(const struct ctx *ctx, struct err *err)
{
	_cleanup_buf_ struct buf help = BUF_INIT;

	if (attach_call_jcmd(ctx, "help Thread.print", HELP_MAX, &help, err) < 0)
		return -1;
	if (strstr(buf_str(&help), "-e :"))
		return 0;
	return err_set(err, EXIT_ANSWER,
		       "this JVM has no extended thread dump, which needs JDK 11: omit -e");
}

static int run(struct ctx *ctx, struct err *err)
{
	const struct threads_opts *opts = ctx->opts;
	/* Both options in one argument: HotSpot reads only the first argument. */
	const char *args[1] = { opts->locks ? "-l" : "" };
	const struct attach_request req = { "threaddump", args, ARRAY_SIZE(args) };

	if (opts->extended) {
		if (check_extended(ctx, err) < 0)
			return -1;
		args[0] = opts->locks ? "-le" : "-e";
	}
	return attach_call_show(ctx, &req, err);
}

const struct cmd cmd_threads = {
	.name = "threads",
	.aliases = "jstack threaddump",
	.synopsis = "[TARGET]",
	.summary = "print a thread dump: what each thread is doing",
	.examples = (const struct example[]){
		{ "threads 4711", "the thread dump of the JVM" },
		{ "threads 4711 -l", "with java.util.concurrent locks" },
		{ NULL, NULL },
	},
	.details = "Prints the JVM's output byte for byte; control characters are escaped on a\n"
		   "terminal.\n",
	.need = NEED_JVM,
	.only_looks = true,
	.takes_all = true,
	.free_words = -1,
	.opts = threads_rows,
	.opts_size = sizeof(struct threads_opts),
	.run = run,
};
