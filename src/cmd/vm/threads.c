/*
 * threads: shows what the threads of a JVM do and what they wait for, or its thread dump.
 *
 * Names, states, stacks and locks come from one thread dump, a single short pause of the JVM; CPU
 * times from /proc, read twice around it.  No agent is loaded.
 */
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "base/deadline.h"
#include "base/progress.h"
#include "base/xalloc.h"
#include "cmd/attach_call.h"
#include "proc/thread_times.h"
#include "render/limit.h"
#include "render/vm/threads_view.h"
#include "wire/glob.h"

#define DUMP_MAX (1u << 30)
#define HELP_MAX 65536
#define INTERVAL_MS 1000 /* of the CPU times, and between --samples */
#define SAMPLES_MAX 1000

struct threads_opts {
	bool raw, locks, extended, stack, group, deadlocks, blocked;
	unsigned samples, limit;
	const char *state, *filter;
};

#define AT(member) offsetof(struct threads_opts, member)

static const struct opt threads_rows[] = {
	OPT_GROUP("Which threads"),
	{ 0, "state", OPT_TEXT, AT(state), "STATE",
	  "only threads in this state, such as BLOCKED or RUNNABLE", NULL },
	{ 0, "filter", OPT_TEXT, AT(filter), "GLOB", "only threads whose name matches", NULL },
	{ 0, "samples", OPT_NUMBER, AT(samples), "N",
	  "only threads that have not moved in N dumps, a second apart", NULL },
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

/* A thread dump and the CPU times around it. */
struct sample {
	struct buf text;
	struct thread_dump dump;
	bool has_times;
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

static int print_raw(const struct ctx *ctx, struct err *err)
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

/*
 * To find the owners of java.util.concurrent locks, the JVM walks its heap (ConcurrentLocksDump),
 * so only --blocked asks for them.
 */
static int take_dump(const struct ctx *ctx, struct sample *s, struct err *err)
{
	const struct threads_opts *opts = ctx->opts;
	bool extended = jvm_feature(ctx->jvm) >= 11;
	const char *args[] = { opts->blocked ? (extended ? "-le" : "-l") : extended ? "-e" : "" };
	const struct attach_request req = { "threaddump", args, ARRAY_SIZE(args) };

	if (attach_call_text(ctx, &req, DUMP_MAX, &s->text, err) < 0)
		return -1;
	thread_dump_parse(&s->dump, s->text.data, s->text.len);
	return 0;
}

static void set_times(struct thread_dump *d, const struct thread_times *before,
		      const struct thread_times *after, double seconds)
{
	for (size_t i = 0; i < d->n; i++) {
		struct dump_thread *t = &d->threads[i];
		const struct thread_time *first = thread_times_find(before, t->tid);
		const struct thread_time *last = thread_times_find(after, t->tid);

		if (!last)
			continue;
		t->cpu_s = t->cpu_s > last->cpu_s ? t->cpu_s : last->cpu_s;
		/*
		 * A thread that started after the first reading has used all of its CPU time since
		 * then.
		 */
		t->cpu_percent = (last->cpu_s - (first ? first->cpu_s : 0)) / seconds * 100;
	}
}

static int by_number(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

/* Adds the threads that the JVM does not list: those of the launcher and of native libraries. */
static void add_native(struct thread_dump *d, const struct thread_times *times)
{
	int64_t *known = xcalloc(d->n + 1, sizeof(*known));
	size_t n = d->n;

	for (size_t i = 0; i < n; i++)
		known[i] = d->threads[i].tid;
	qsort(known, n, sizeof(*known), by_number);
	for (size_t i = 0; i < times->n; i++) {
		int64_t tid = times->list[i].nstid;

		if (!bsearch(&tid, known, n, sizeof(*known), by_number))
			thread_dump_add(d, times->list[i].name, tid);
	}
	free(known);
}

/* `left`: how many dumps follow, for the progress line. */
static void wait_until(int64_t at_ns, size_t left)
{
	struct progress line;
	int64_t left_ns;

	progress_begin(&line);
	while ((left_ns = at_ns - monotonic_ns()) > 0) {
		int ms = (int)(left_ns / 1000000) + 1;

		(void)poll(NULL, 0, line.on && ms > PROGRESS_MS ? PROGRESS_MS : ms);
		if (left == 0 && progress_due(&line))
			progress_show(&line, "measuring CPU times");
		else if (progress_due(&line))
			progress_show(&line, "%zu more thread dump%s", left, left == 1 ? "" : "s");
	}
	progress_end(&line);
}

static bool is_namespaced(const struct jvm *jvm)
{
	return jvm->nspid != jvm->pid;
}

/* Takes a dump between two readings of the CPU times, a second apart. */
static int measure(const struct ctx *ctx, struct sample *s, struct err *err)
{
	const struct jvm *jvm = ctx->jvm;
	struct thread_times before = { .list = NULL }, after = { .list = NULL };
	int64_t begin_ns = monotonic_ns(), end_ns;
	struct procfs proc;
	int rc = procfs_open(&proc, "/proc");

	if (rc < 0)
		return err_set(err, EXIT_PERMISSION, "cannot open /proc: %s; mount it",
			       strerror(-rc));
	s->has_times = thread_times_read(&proc, jvm->pid, is_namespaced(jvm), &before) == 0;
	rc = take_dump(ctx, s, err);
	if (rc == 0 && s->has_times) {
		wait_until(begin_ns + INTERVAL_MS * INT64_C(1000000), 0);
		end_ns = monotonic_ns();
		s->has_times =
			thread_times_read(&proc, jvm->pid, is_namespaced(jvm), &after) == 0;
		if (s->has_times && s->dump.n > 0) {
			add_native(&s->dump, &after);
			set_times(&s->dump, &before, &after, (double)(end_ns - begin_ns) / 1e9);
		}
	}
	thread_times_release(&before);
	thread_times_release(&after);
	procfs_close(&proc);
	return rc;
}

static void release(struct sample *s)
{
	thread_dump_release(&s->dump);
	buf_release(&s->text);
}

static bool is_same_thread(const struct dump_thread *a, const struct dump_thread *b)
{
	return a->tid == b->tid && a->id == b->id && strcmp(a->name, b->name) == 0;
}

/* Sets moved[i] for each thread of `now` whose state or stack differs from that in `before`. */
static void note_moved(const struct thread_dump *before, const struct thread_dump *now, bool *moved)
{
	for (size_t i = 0; i < now->n; i++) {
		const struct dump_thread *found = NULL;

		/* Dumps list threads in the same order: search from the same place. */
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

/* Takes the earlier dumps of --samples. */
static int take_earlier(const struct ctx *ctx, struct sample *earlier, size_t n, struct err *err)
{
	for (size_t i = 0; i < n; i++) {
		int64_t begin_ns = monotonic_ns();

		if (take_dump(ctx, &earlier[i], err) < 0)
			return -1;
		buf_release(&earlier[i].text);
		wait_until(begin_ns + INTERVAL_MS * INT64_C(1000000), n - i);
	}
	return 0;
}

static bool is_wanted(const struct threads_opts *opts, const struct dump_thread *t)
{
	if (opts->state && strcasecmp(opts->state, t->state) != 0)
		return false;
	return !opts->filter || glob_matches(opts->filter, t->name);
}

struct row {
	const struct dump_thread *thread;
	size_t index;
};

/* The busiest first: by the time in the last second, then by the time since they began. */
static int by_cpu(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	if (x->thread->cpu_percent != y->thread->cpu_percent)
		return x->thread->cpu_percent < y->thread->cpu_percent ? 1 : -1;
	if (x->thread->cpu_s != y->thread->cpu_s)
		return x->thread->cpu_s < y->thread->cpu_s ? 1 : -1;
	return x->index < y->index ? -1 : 1;
}

/* Returns the indexes of the wanted threads, which the caller frees. */
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
		json_print_take(threads_view_json(v), ctx->out);
	else if (opts->deadlocks)
		threads_view_print_deadlocks(v, ctx->out);
	else if (opts->blocked)
		threads_view_print_blocked(v, ctx->out);
	else if (opts->group)
		threads_view_print_groups(v, ctx->out);
	else
		threads_view_print(v, ctx->out);
}

static int show(const struct ctx *ctx, struct sample *s, const bool *moved, struct err *err)
{
	const struct threads_opts *opts = ctx->opts;
	struct threads_view view = {
		.pid = (int)ctx->jvm->pid,
		.dump = &s->dump,
		.limit = opts->limit,
		.stack = opts->stack,
	};
	size_t *rows, n_rings = s->dump.n_rings;

	if (s->dump.n == 0) {
		if (!ctx->json)
			attach_call_print_text(ctx, s->text.data, s->text.len);
		return err_set(err, EXIT_PARTIAL,
			       "JVM %d printed a thread dump of an unknown form; --raw prints it",
			       view.pid);
	}
	if (!s->dump.complete)
		cmd_print_notice(ctx->cmd, "the JVM's dump has no end: threads may be missing");
	rows = choose(opts, &s->dump, moved, &view.n);
	view.rows = rows;
	print(ctx, &view);
	free(rows);
	if (!opts->deadlocks || n_rings == 0)
		return 0;
	return err_set(err, EXIT_ANSWER, "JVM %d has %zu deadlock%s: only a restart ends %s",
		       view.pid, n_rings, n_rings == 1 ? "" : "s", n_rings == 1 ? "it" : "them");
}

static int run_samples(const struct ctx *ctx, size_t n_earlier, struct err *err)
{
	const struct threads_opts *opts = ctx->opts;
	struct sample *earlier = xcalloc(n_earlier + 1, sizeof(*earlier));
	struct sample last = { .text = BUF_INIT };
	bool *moved = NULL;
	int rc = take_earlier(ctx, earlier, n_earlier, err);

	if (rc == 0)
		rc = opts->deadlocks || opts->blocked ? take_dump(ctx, &last, err) :
							measure(ctx, &last, err);
	if (rc == 0) {
		if (n_earlier > 0)
			moved = xcalloc(last.dump.n + 1, sizeof(*moved));
		for (size_t i = 0; i < n_earlier; i++)
			note_moved(&earlier[i].dump, &last.dump, moved);
		thread_dump_link(&last.dump);
		rc = show(ctx, &last, moved, err);
	}
	for (size_t i = 0; i < n_earlier; i++)
		release(&earlier[i]);
	free(earlier);
	free(moved);
	release(&last);
	return rc;
}

static int check(const struct ctx *ctx, struct err *err)
{
	const struct threads_opts *opts = ctx->opts;
	bool raw = opts->raw || opts->locks || opts->extended;
	int views = raw + opts->group + opts->deadlocks + opts->blocked;

	if (views > 1)
		return err_set(err, EXIT_USAGE,
			       "--raw (-l, -e), --group, --deadlocks and --blocked exclude each "
			       "other: give one");
	if ((raw || opts->deadlocks || opts->blocked) &&
	    (opts->stack || opts->state || opts->filter || opts->samples > 0))
		return err_set(err, EXIT_USAGE,
			       "--stack, --state, --filter and --samples choose rows: omit them, "
			       "or --raw (-l, -e), --deadlocks, --blocked");
	if (opts->samples > SAMPLES_MAX)
		return err_set(err, EXIT_USAGE, "invalid --samples: expected at most %d",
			       SAMPLES_MAX);
	return 0;
}

static int run(struct ctx *ctx, struct err *err)
{
	const struct threads_opts *opts = ctx->opts;

	if (opts->raw || opts->locks || opts->extended)
		return print_raw(ctx, err);
	return run_samples(ctx, opts->samples > 1 ? opts->samples - 1 : 0, err);
}

const struct cmd cmd_threads = {
	.name = "threads",
	.aliases = "jstack threaddump",
	.synopsis = "[TARGET]",
	.summary = "show what uses the CPU: each thread's share, stack and lock",
	.examples = (const struct example[]){
		{ "threads 4711", "the busiest threads, with their top frames" },
		{ "threads 4711 --stack -n 3", "the stacks of the three busiest" },
		{ "threads 4711 --deadlocks", "deadlocks; exit status 1 if there are any" },
		{ "threads 4711 --raw", "the JVM's thread dump, as jstack prints it" },
		{ NULL, NULL },
	},
	.details =
		"CPU% is measured for a second around one thread dump; 100 is one CPU.  Threads\n"
		"of the JVM itself (GC, compiler) and of native libraries have rows, too.\n"
		"--blocked lets the JVM walk its heap for the owners of java.util.concurrent\n"
		"locks, which pauses it for longer than the dump.\n",
	.need = NEED_JVM,
	.only_looks = true,
	.takes_all = true,
	.free_words = -1,
	.opts = threads_rows,
	.opts_size = sizeof(struct threads_opts),
	.check = check,
	.run = run,
};
