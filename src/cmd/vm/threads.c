/*
 * threads: a thread dump, as jstack gets it.
 */
#include <string.h>

#include "cmd/answer.h"

#define HELP_MAX 65536

struct threads_opts {
	bool locks, extended;
};

#define AT(member) offsetof(struct threads_opts, member)

static const struct opt threads_rows[] = {
	{ 'l', "locks", OPT_FLAG, AT(locks), NULL, "print the java.util.concurrent locks, too",
	  NULL },
	{ 'e', "extended", OPT_FLAG, AT(extended), NULL,
	  "print what each thread has allocated, too (JDK 11)", NULL },
	OPT_END,
};

/*
 * A JVM from before JDK-8200720 (JDK 11) ignores an "e", even takes "-le" for nothing at all, and
 * its dump does not tell.  Its diagnostic command knows the same letters, and lists them.
 */
static int check_extended(const struct ctx *ctx, struct err *err)
{
	_cleanup_buf_ struct buf help = BUF_INIT;

	if (answer_jcmd(ctx, "help Thread.print", HELP_MAX, &help, err) < 0)
		return -1;
	if (strstr(buf_str(&help), "-e :"))
		return 0;
	return err_set(err, EXIT_ANSWER,
		       "this JVM knows no extended thread dump, which came with JDK 11: "
		       "leave -e away");
}

static int run(struct ctx *ctx, struct err *err)
{
	const struct threads_opts *opts = ctx->opts;
	/* One argument for both: HotSpot looks at the first one only. */
	const char *args[1] = { opts->locks ? "-l" : "" };
	const struct attach_request req = { "threaddump", args, ARRAY_SIZE(args) };

	if (opts->extended) {
		if (check_extended(ctx, err) < 0)
			return -1;
		args[0] = opts->locks ? "-le" : "-e";
	}
	return answer_show(ctx, &req, err);
}

const struct cmd cmd_threads = {
	.name = "threads",
	.aliases = "jstack",
	.synopsis = "TARGET",
	.summary = "thread dump: what each thread is doing",
	.details = "The JVM's output is printed byte for byte.\n",
	.need = NEED_JVM,
	.takes_all = true,
	.free_words = -1,
	.opts = threads_rows,
	.opts_size = sizeof(struct threads_opts),
	.run = run,
};
