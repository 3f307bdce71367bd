/* threads: takes the JVM's thread dump, and reads the kernel's CPU times. */
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "base/deadline.h"
#include "base/xalloc.h"
#include "cmd/attach_call.h"
#include "cmd/threads/threads.h"
#include "discover/memory_check.h"
#include "proc/thread_times.h"

#define HELP_MAX 65536
#define INTERVAL_MS 1000 /* ms between the two readings of CPU times */
/*
 * Limit in bytes for a heap that the JVM may walk without --blocked.  A walk of a heap of this size
 * takes about 0.1 s.  The limit applies to the used bytes of the heap; or if their number is
 * unknown, to the maximum size of the heap.
 */
#define WALKED_HEAP_MAX (INT64_C(256) << 20)

/*
 * Returns 0; or -1 with err set if the JVM's operation threaddump does not know the option -e, and
 * would ignore it.  JDK 11 and later know -e (JDK-8200720).  The help of the diagnostic command
 * Thread.print lists the options that the JVM knows.
 */
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

int threads_print_raw(const struct ctx *ctx, struct err *err)
{
	const struct threads_opts *opts = ctx->opts;
	/* Pass -l and -e in one argument, because HotSpot reads only the first argument. */
	const char *args[1] = { opts->locks ? "-l" : "" };
	const struct attach_request req = { "threaddump", args, ARRAY_SIZE(args) };

	if (opts->extended) {
		if (check_extended(ctx, err) < 0)
			return -1;
		args[0] = opts->locks ? "-le" : "-e";
	}
	return attach_call_show(ctx, &req, err);
}

static int ask_dump(const struct ctx *ctx, bool locks, struct threads_sample *s, struct err *err)
{
	bool extended = jvm_feature(ctx->jvm) >= 11;
	const char *args[] = { locks ? (extended ? "-le" : "-l") : extended ? "-e" : "" };
	const struct attach_request req = { "threaddump", args, ARRAY_SIZE(args) };

	threads_sample_release(s);
	if (attach_call_text(ctx, &req, THREADS_DUMP_MAX, &s->text, err) < 0)
		return -1;
	thread_dump_parse(&s->dump, s->text.data, s->text.len);
	return 0;
}

/* Returns whether the JVM can walk its heap in about 0.1 s. */
static bool is_heap_small(const struct jvm *jvm)
{
	int64_t bytes = memory_heap_used(jvm);

	return bytes >= 0 && bytes <= WALKED_HEAP_MAX;
}

/*
 * To find the owners of java.util.concurrent locks, the JVM walks its heap in a safepoint
 * (ConcurrentLocksDump).  So if the heap is large, jtool requests the owners only with --blocked.
 */
int threads_take_dump(const struct ctx *ctx, struct threads_sample *s, struct err *err)
{
	const struct threads_opts *opts = ctx->opts;
	size_t n;

	if (ask_dump(ctx, opts->blocked, s, err) < 0)
		return -1;
	n = opts->blocked || opts->deadlocks ? 0 : thread_dump_count_unowned(&s->dump);
	if (n == 0)
		return 0;
	if (is_heap_small(ctx->jvm))
		return ask_dump(ctx, true, s, err);
	cmd_print_notice(ctx->cmd, "%zu thread%s for java.util.concurrent locks: --blocked shows "
				   "their owners, for which the JVM walks its heap", n,
			 n == 1 ? " waits" : "s wait");
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
		dump_thread_name(t, last->name);
		t->cpu_s = t->cpu_s > last->cpu_s ? t->cpu_s : last->cpu_s;
		/*
		 * A thread that is not in the first reading has started after that reading.  It has
		 * used all of its CPU time between the two readings.
		 */
		t->cpu_percent = (last->cpu_s - (first ? first->cpu_s : 0)) / seconds * 100;
	}
}

static int by_number(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

/* Adds the threads that are not in the JVM's dump: the launcher's and those of native libraries. */
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

void threads_wait_until(int64_t at_ns)
{
	int64_t left_ns;

	while ((left_ns = at_ns - monotonic_ns()) > 0)
		(void)poll(NULL, 0, (int)(left_ns / 1000000) + 1);
}

static bool is_namespaced(const struct jvm *jvm)
{
	return jvm->nspid != jvm->pid;
}

int threads_measure(const struct ctx *ctx, struct threads_sample *s, struct err *err)
{
	const struct jvm *jvm = ctx->jvm;
	struct thread_times before = { .list = NULL }, after = { .list = NULL };
	int64_t begin_ns = monotonic_ns(), end_ns;
	struct procfs proc;
	bool has_times;
	int rc = procfs_open(&proc, "/proc");

	if (rc < 0)
		return jvm_no_proc(rc, err);
	has_times = thread_times_read(&proc, jvm->pid, is_namespaced(jvm), &before) == 0;
	rc = threads_take_dump(ctx, s, err);
	if (rc == 0 && has_times) {
		threads_wait_until(begin_ns + INTERVAL_MS * INT64_C(1000000));
		end_ns = monotonic_ns();
		has_times =
			thread_times_read(&proc, jvm->pid, is_namespaced(jvm), &after) == 0;
		if (has_times && s->dump.n > 0) {
			add_native(&s->dump, &after);
			set_times(&s->dump, &before, &after, (double)(end_ns - begin_ns) / 1e9);
		}
	}
	thread_times_release(&before);
	thread_times_release(&after);
	procfs_close(&proc);
	return rc;
}

void threads_sample_release(struct threads_sample *s)
{
	thread_dump_release(&s->dump);
	buf_release(&s->text);
}
