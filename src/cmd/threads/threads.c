/*
 * The command threads: shows what the threads of a JVM do and what they wait for, or prints the
 * JVM's thread dump.
 *
 * Names, states, stacks and locks come from one thread dump, for which the JVM is paused once and
 * briefly.  CPU times come from /proc, which is read before and after the dump.  No agent is
 * loaded.
 */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/deadline.h"
#include "base/xalloc.h"
#include "cmd/archive.h"
#include "cmd/attach_call.h"
#include "cmd/threads/threads.h"
#include "render/limit.h"
#include "render/vm/threads_view.h"
#include "wire/glob.h"

#define INTERVAL_MS 1000 /* ms between the dumps of --samples */
#define SAMPLES_MAX 1000

#define AT(member) offsetof(struct threads_opts, member)

static const struct opt threads_rows[] = {
	OPT_GROUP("Which threads"),
	{ 0, "state", OPT_TEXT, AT(state), "STATE",
	  "only threads in this state, such as BLOCKED or RUNNABLE", NULL },
	{ 0, "filter", OPT_TEXT, AT(filter), "GLOB", "only threads whose name matches", NULL },
	{ 0, "samples", OPT_NUMBER, AT(samples), "N",
	  "only threads that have not moved in N dumps, a second apart", NULL },
	{ 0, "virtual", OPT_FLAG, AT(virtual), NULL, "the virtual threads (JDK 21)", NULL },
	OPT_LIMIT_ROW(AT(limit), "20"),
	OPT_GROUP("What is shown"),
	{ 0, "stack", OPT_FLAG, AT(stack), NULL, "the stack of each thread", NULL },
	{ 0, "group", OPT_FLAG, AT(group), NULL, "one row for threads with the same stack", NULL },
	{ 0, "deadlocks", OPT_FLAG, AT(deadlocks), NULL,
	  "deadlocks; exit status 1 if there are any", NULL },
	{ 0, "blocked", OPT_FLAG, AT(blocked), NULL,
	  "who waits for whom, the thread that holds up most first", NULL },
	OPT_GROUP("The JVM's thread dump"),
	{ 0, "raw", OPT_FLAG, AT(raw), NULL, "print the dump, byte for byte", NULL },
	{ 'l', "locks", OPT_FLAG, AT(locks), NULL, "with java.util.concurrent locks; implies --raw",
	  NULL },
	{ 'e', "extended", OPT_FLAG, AT(extended), NULL,
	  "with the bytes that each thread has allocated (JDK 11); implies --raw", NULL },
	OPT_END,
};

static bool is_same_thread(const struct dump_thread *a, const struct dump_thread *b)
{
	return a->tid == b->tid && a->id == b->id && strcmp(a->name, b->name) == 0;
}

/*
 * Sets moved[i] to true if thread i of `now` has other frames or another state than in `before`, if
 * it has no frames, or if it is not in `before`.
 */
static void note_moved(const struct thread_dump *before, const struct thread_dump *now, bool *moved)
{
	for (size_t i = 0; i < now->n; i++) {
		const struct dump_thread *found = NULL;

		/* The search begins at index i, because two dumps mostly have the same order. */
		for (size_t k = 0; k < before->n && !found; k++) {
			const struct dump_thread *t = &before->threads[(i + k) % before->n];

			if (is_same_thread(t, &now->threads[i]))
				found = t;
		}
		if (!found || now->threads[i].n_frames == 0 ||
		    !dump_thread_same_stack(found, &now->threads[i]))
			moved[i] = true;
	}
}

/* Takes all dumps of --samples but the last one. */
static int take_earlier(const struct ctx *ctx, struct threads_sample *earlier, size_t n,
			struct err *err)
{
	int n_dumps = ctx->file ? threads_file_count(ctx->file, err) : 0;
	unsigned first = n_dumps > (int)n ? (unsigned)n_dumps - (unsigned)n : 1;

	if (n_dumps < 0)
		return -1;
	for (size_t i = 0; i < n; i++) {
		int64_t begin_ns = monotonic_ns();

		if (ctx->file) {
			if (threads_file_take(ctx->file, first + (unsigned)i, &earlier[i], err) < 0)
				return -1;
			continue;
		}
		if (threads_take_dump(ctx, &earlier[i], err) < 0)
			return -1;
		buf_release(&earlier[i].text);
		threads_wait_until(begin_ns + INTERVAL_MS * INT64_C(1000000));
	}
	return 0;
}

static int take_last(const struct ctx *ctx, struct threads_sample *s, struct err *err)
{
	const struct threads_opts *opts = ctx->opts;
	int n;

	if (ctx->file && opts->virtual)
		return threads_file_take_virtual(ctx->file, s, err);
	if (ctx->file) {
		n = threads_file_count(ctx->file, err);
		if (n < 0)
			return -1;
		return threads_file_take(ctx->file, n > 0 ? (unsigned)n : 1, s, err);
	}
	if (opts->virtual)
		return threads_take_virtual(ctx, s, err);
	return opts->deadlocks || opts->blocked ? threads_take_dump(ctx, s, err) :
						  threads_measure(ctx, s, err);
}

/*
 * The states of java.lang.Thread.State; "native" for threads of the JVM itself; "UNKNOWN" for
 * virtual threads of JDK 21.
 */
static const char *const states[] = {
	"NEW", "RUNNABLE", "BLOCKED", "WAITING", "TIMED_WAITING", "TERMINATED",
	"native", "UNKNOWN",
};

static bool is_state(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(states); i++) {
		if (strcasecmp(name, states[i]) == 0)
			return true;
	}
	return false;
}

static bool is_wanted(const struct threads_opts *opts, const struct dump_thread *t)
{
	if (opts->virtual && !t->virtual)
		return false;
	if (opts->state && strcasecmp(opts->state, t->state) != 0)
		return false;
	return !opts->filter || glob_matches(opts->filter, t->name);
}

struct row {
	const struct dump_thread *thread;
	size_t index;
};

/*
 * Compares two rows for sorting.  Rows with more CPU time in the measured second are first; of rows
 * with equal time, those with more CPU time since the thread's start.  Virtual threads that run on
 * a carrier precede other virtual threads.
 */
static int by_cpu(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	if (x->thread->cpu_percent != y->thread->cpu_percent)
		return x->thread->cpu_percent < y->thread->cpu_percent ? 1 : -1;
	if (x->thread->cpu_s != y->thread->cpu_s)
		return x->thread->cpu_s < y->thread->cpu_s ? 1 : -1;
	if ((x->thread->carrier < 0) != (y->thread->carrier < 0))
		return x->thread->carrier < 0 ? 1 : -1;
	return x->index < y->index ? -1 : 1;
}

/*
 * Returns the indexes of the threads that the options select, in the order of the output, and their
 * number in *n.  The caller frees the array.
 */
static size_t *choose(const struct threads_opts *opts, const struct thread_dump *d,
		      const bool *moved, size_t *n)
{
	struct row *rows = xcalloc(d->n + 1, sizeof(*rows));
	size_t *chosen = xcalloc(d->n + 1, sizeof(*chosen));

	*n = 0;
	for (size_t i = 0; i < d->n; i++) {
		if (is_wanted(opts, &d->threads[i]) && (!moved || !moved[i]))
			rows[(*n)++] = (struct row){ &d->threads[i], i };
	}
	if (*n > 0)
		qsort(rows, *n, sizeof(*rows), by_cpu);
	for (size_t i = 0; i < *n; i++)
		chosen[i] = rows[i].index;
	free(rows);
	return chosen;
}

static void print(const struct ctx *ctx, const struct threads_view *v)
{
	const struct threads_opts *opts = ctx->opts;

	if (ctx->json && opts->group)
		json_print_take(threads_view_groups_json(v), ctx->out);
	else if (ctx->json)
		threads_view_print_json(v, ctx->out);
	else if (opts->deadlocks)
		threads_view_print_deadlocks(v, ctx->out);
	else if (opts->blocked)
		threads_view_print_blocked(v, ctx->out);
	else if (opts->group)
		threads_view_print_groups(v, ctx->out);
	else
		threads_view_print(v, ctx->out);
}

/* Prints a notice about deadlocks, unless --json, --deadlocks or --blocked prints them anyway. */
static void print_deadlock_notice(const struct ctx *ctx, int pid, size_t n)
{
	const struct threads_opts *opts = ctx->opts;
	const char *it = n == 1 ? "it" : "them";

	if (n == 0 || ctx->json || opts->deadlocks || opts->blocked)
		return;
	if (ctx->file)
		cmd_print_notice(ctx->cmd, "%zu deadlock%s: jtool threads '%s' --deadlocks shows "
				 "%s", n, n == 1 ? "" : "s", ctx->file, it);
	else
		cmd_print_notice(ctx->cmd, "%zu deadlock%s: jtool threads %d --deadlocks shows %s",
				 n, n == 1 ? "" : "s", pid, it);
}

static int show(const struct ctx *ctx, struct threads_sample *s, const bool *moved, struct err *err)
{
	const struct threads_opts *opts = ctx->opts;
	struct threads_view view = {
		.pid = ctx->jvm ? (int)ctx->jvm->pid : -1,
		.file = ctx->file,
		.virtual = opts->virtual,
		.dump = &s->dump,
		.limit = opts->limit,
		.stack = opts->stack,
	};
	_cleanup_free_ char *subject = ctx->file ? xasprintf("'%s'", ctx->file) :
						   xasprintf("JVM %d", view.pid);
	size_t *rows, n_rings;

	if (s->dump.n == 0 || (opts->virtual && !s->dump.complete)) {
		if (!ctx->json)
			attach_call_print_text(ctx, s->text.data, s->text.len);
		return err_set(err, EXIT_PARTIAL,
			       "%s has a thread dump of an unknown format; --raw prints it",
			       subject);
	}
	if (!s->dump.complete)
		cmd_print_notice(ctx->cmd, "the JVM's dump has no end: threads may be missing");
	rows = choose(opts, &s->dump, moved, &view.n);
	view.rows = rows;
	print(ctx, &view);
	free(rows);
	n_rings = s->dump.n_rings;
	print_deadlock_notice(ctx, view.pid, n_rings);
	if (!opts->deadlocks || n_rings == 0)
		return 0;
	(void)err_set(err, EXIT_ANSWER, "%s has %zu deadlock%s: only a restart ends %s", subject,
		      n_rings, n_rings == 1 ? "" : "s", n_rings == 1 ? "it" : "them");
	err->is_verdict = true;
	return -1;
}

static int run_samples(const struct ctx *ctx, size_t n_earlier, struct err *err)
{
	struct threads_sample *earlier = xcalloc(n_earlier + 1, sizeof(*earlier));
	struct threads_sample last = { .text = BUF_INIT };
	bool *moved = NULL;
	int rc = take_earlier(ctx, earlier, n_earlier, err);

	if (rc == 0)
		rc = take_last(ctx, &last, err);
	if (rc == 0) {
		if (n_earlier > 0)
			moved = xcalloc(last.dump.n + 1, sizeof(*moved));
		for (size_t i = 0; i < n_earlier; i++)
			note_moved(&earlier[i].dump, &last.dump, moved);
		thread_dump_link(&last.dump);
		rc = show(ctx, &last, moved, err);
	}
	for (size_t i = 0; i < n_earlier; i++)
		threads_sample_release(&earlier[i]);
	free(earlier);
	free(moved);
	threads_sample_release(&last);
	return rc;
}

/*
 * Prints dumps unchanged: with --virtual, the dump of all threads, including virtual ones; without
 * --virtual, each thread dump in the archive ctx->file.
 */
static int print_text(const struct ctx *ctx, struct err *err)
{
	const struct threads_opts *opts = ctx->opts;
	int n = opts->virtual || !ctx->file ? 1 : threads_file_count(ctx->file, err);
	int rc = n < 0 ? -1 : 0;

	if (ctx->json)
		return err_set(err, EXIT_USAGE,
			       "--json cannot be combined with --raw here: the dump is printed as "
			       "it is; give one");
	for (int i = 1; rc == 0 && i <= (n > 0 ? n : 1); i++) {
		struct threads_sample s = { .text = BUF_INIT };

		rc = opts->virtual ? take_last(ctx, &s, err) :
				     threads_file_take(ctx->file, (unsigned)i, &s, err);
		if (rc == 0)
			attach_call_print_text(ctx, s.text.data, s.text.len);
		threads_sample_release(&s);
	}
	return rc;
}

static int check(const struct ctx *ctx, struct err *err)
{
	const struct threads_opts *opts = ctx->opts;
	bool raw = opts->raw || opts->locks || opts->extended;
	int views = raw + opts->group + opts->deadlocks + opts->blocked;

	if (views > 1)
		return err_set(err, EXIT_USAGE,
			       "--raw (-l, -e), --group, --deadlocks and --blocked cannot be "
			       "combined: give one");
	if ((raw || opts->deadlocks || opts->blocked) &&
	    (opts->stack || opts->state || opts->filter || opts->samples > 0))
		return err_set(err, EXIT_USAGE,
			       "--stack, --state, --filter and --samples choose rows: omit them, "
			       "or --raw (-l, -e), --deadlocks, --blocked");
	if (opts->virtual && (opts->locks || opts->extended || opts->samples > 0))
		return err_set(err, EXIT_USAGE,
			       "--virtual cannot be combined with --samples, -l or -e: the JVM's "
			       "dump of virtual threads has no CPU times or locks");
	if (opts->state && !is_state(opts->state))
		return err_set(err, EXIT_USAGE,
			       "invalid --state '%s': expected NEW, RUNNABLE, BLOCKED, WAITING, "
			       "TIMED_WAITING, TERMINATED, native or UNKNOWN", opts->state);
	if (opts->samples > SAMPLES_MAX)
		return err_set(err, EXIT_USAGE, "invalid --samples: expected at most %d",
			       SAMPLES_MAX);
	return 0;
}

static int check_file(const struct ctx *ctx, struct err *err)
{
	const struct threads_opts *opts = ctx->opts;
	int n;

	if (!archive_is_file(ctx->file))
		return archive_refuse(ctx->file, err);
	if (opts->locks || opts->extended)
		return err_set(err, EXIT_USAGE, "-l and -e need a JVM: --raw prints the dumps of "
						"an archive");
	n = threads_file_count(ctx->file, err);
	if (n < 0)
		return -1;
	if (n > 0 && opts->samples > (unsigned)n)
		return err_set(err, EXIT_USAGE, "'%s' has %d thread dump%s: give --samples %d "
						"or less", ctx->file, n, n == 1 ? "" : "s", n);
	return 0;
}

static int run(struct ctx *ctx, struct err *err)
{
	const struct threads_opts *opts = ctx->opts;
	bool raw = opts->raw || opts->locks || opts->extended;

	if (ctx->file && check_file(ctx, err) < 0)
		return -1;
	if (raw && (ctx->file || opts->virtual))
		return print_text(ctx, err);
	if (raw)
		return threads_print_raw(ctx, err);
	return run_samples(ctx, opts->samples > 1 ? opts->samples - 1 : 0, err);
}

const struct cmd cmd_threads = {
	.name = "threads",
	.aliases = "jstack threaddump",
	.synopsis = "[TARGET | CAPTURE.tar.gz]",
	.summary = "show what uses the CPU: each thread's share, stack and lock",
	.examples = (const struct example[]){
		{ "threads 4711", "the busiest threads, with their top frames" },
		{ "threads 4711 --stack -n 3", "the stacks of the three busiest" },
		{ "threads 4711 --deadlocks", "deadlocks; exit status 1 if there are any" },
		{ "threads 4711 --virtual --group", "virtual threads by what they do" },
		{ "threads 4711 --raw", "the JVM's thread dump, as jstack prints it" },
		{ NULL, NULL },
	},
	.details =
		"CPU% is measured for a second around one thread dump; 100 is one CPU.  Threads\n"
		"of the JVM itself (GC, compiler) and of native libraries have rows, too.\n"
		"The JVM walks its heap to find the owners of java.util.concurrent locks, which\n"
		"pauses it for longer than the dump: with --blocked, and where threads wait for\n"
		"such locks and the heap has 256 MiB or less.\n",
	.need = NEED_JVM,
	.parses = true,
	.only_looks = true,
	.takes_all = true,
	.takes_file = true,
	.is_file = archive_is_file,
	.free_words = -1,
	.opts = threads_rows,
	.opts_size = sizeof(struct threads_opts),
	.check = check,
	.run = run,
};
