/*
 * top: reads the threads of one JVM: their CPU times at every interval, and their names from a
 * thread dump, which is requested less often.
 */
#include <errno.h>
#include <string.h>

#include "base/xalloc.h"
#include "cmd/top/top_internal.h"

/*
 * A thread dump pauses the JVM.  So after a dump, jtool waits for DUMP_WAIT_MS, and then requests
 * one dump for all threads that have started since.  For a JVM that starts threads all the time,
 * jtool doubles the wait after each dump, up to DUMP_WAIT_MAX_MS.
 */
#define DUMP_WAIT_MS 10000
#define DUMP_WAIT_MAX_MS 320000
#define DUMP_FAILED_MS 60000

void top_process_begin(struct top_process *p, const struct jvm *jvm, struct jvm *owned)
{
	struct err why = { .code = EXIT_DONE };

	*p = (struct top_process){ .jvm = jvm, .owned = owned, .dump = TOP_DUMP_INIT,
				   .text = BUF_INIT, .dump_wait_ms = DUMP_WAIT_MS };
	top_source_begin(&p->source, jvm);
	/* Without counters, the table shows dashes. */
	p->has_counters = hsperf_open(&p->counters, jvm, &why) == 0;
}

void top_process_end(struct top_process *p)
{
	if (!p->jvm)
		return;
	top_dump_end(&p->dump);
	if (p->has_counters)
		hsperf_close(&p->counters);
	thread_times_release(&p->times);
	top_threads_release(&p->threads);
	buf_release(&p->text);
	jvm_free(p->owned);
	p->jvm = NULL;
}

static void take_times(struct top_process *p)
{
	struct thread_reading *readings = xcalloc(p->times.n + 1, sizeof(*readings));

	for (size_t i = 0; i < p->times.n; i++) {
		const struct thread_time *t = &p->times.list[i];

		readings[i] = (struct thread_reading){ .tid = t->nstid, .cpu_s = t->cpu_s,
						       .start_ticks = t->start_ticks,
						       .state = t->state };
		memcpy(readings[i].comm, t->name, sizeof(t->name));
	}
	top_threads_update(&p->threads, readings, p->times.n, p->seconds);
	free(readings);
}

static int read_times(struct top_process *p, const struct procfs *proc)
{
	struct thread_times times = { .list = NULL };
	double at_s = (double)monotonic_ns() / 1e9;
	bool is_namespaced = p->jvm->nspid != p->jvm->pid;
	int rc = thread_times_read_after(proc, p->jvm->pid, is_namespaced, &p->times, &times);

	if (rc < 0 || times.n == 0) {
		thread_times_release(&times);
		return rc < 0 ? rc : -ESRCH;
	}
	p->seconds = p->at_s > 0 ? at_s - p->at_s : 0;
	p->at_s = at_s;
	thread_times_release(&p->times);
	p->times = times;
	take_times(p);
	return 0;
}

static int start_dump(struct top_process *p, const struct ctx *ctx, struct err *err)
{
	if (top_dump_start(&p->dump, ctx, p->jvm, err) < 0)
		return -1;
	top_threads_ask(&p->threads);
	p->is_dumped = true;
	return 0;
}

/* Requests a dump if a thread has no name, but not before p->dump_due_ns. */
static void request_names(struct top_process *p, const struct ctx *ctx)
{
	int64_t now = monotonic_ns();

	if (top_dump_is_running(&p->dump) || now < p->dump_due_ns ||
	    (p->is_dumped && !top_threads_are_unknown(&p->threads)))
		return;
	/*
	 * New threads have started soon after the last wait ended.  More threads are likely to
	 * start, so the next wait is longer.
	 */
	if (p->is_dumped && now < p->dump_due_ns + (int64_t)p->dump_wait_ms * 1000000)
		p->dump_wait_ms = p->dump_wait_ms < DUMP_WAIT_MAX_MS ? p->dump_wait_ms * 2 :
								       DUMP_WAIT_MAX_MS;
	else
		p->dump_wait_ms = DUMP_WAIT_MS;
	p->dump_due_ns = now + (int64_t)p->dump_wait_ms * 1000000;
	p->why = (struct err){ .code = EXIT_DONE };
	if (start_dump(p, ctx, &p->why) < 0)
		p->dump_due_ns = deadline_in_ms(DUMP_FAILED_MS).at_ns;
}

int top_process_read(struct top_process *p, const struct ctx *ctx, const struct procfs *proc,
		     struct err *err)
{
	struct perfdata perf = { .data = NULL };
	struct err why = { .code = EXIT_DONE };
	/*
	 * Ignore an error of hsperf_read(): the table shows dashes, or if the JVM is exiting,
	 * top_source_read() returns an error.
	 */
	bool has = p->has_counters && hsperf_read(&p->counters, &perf, &why) == 0;
	int rc = top_source_read(&p->source, proc, has ? &perf : NULL, &p->row);

	if (has)
		perfdata_release(&perf);
	if (rc == 0)
		rc = read_times(p, proc);
	if (rc < 0) {
		p->is_gone = true;
		return jvm_gone(p->jvm, err);
	}
	request_names(p, ctx);
	return 0;
}

int top_request_dump(struct top *t, struct err *err)
{
	struct top_process *p = &t->one;

	if (p->is_gone)
		return jvm_gone(p->jvm, err);
	return top_dump_is_running(&p->dump) ? 0 : start_dump(p, t->ctx, err);
}

int top_take_dump(struct top *t)
{
	struct top_process *p = &t->one;
	struct thread_dump dump = { .threads = NULL };
	struct err why = { .code = EXIT_DONE };
	int rc;

	buf_reset(&p->text);
	rc = top_dump_take(&p->dump, &p->text, &why);
	if (rc == 0)
		return 0;
	p->why = why;
	if (rc < 0) {
		p->dump_due_ns = deadline_in_ms(DUMP_FAILED_MS).at_ns;
		return -1;
	}
	thread_dump_parse(&dump, p->text.data, p->text.len);
	top_threads_name(&p->threads, &dump);
	p->has_names = true;
	thread_dump_release(&dump);
	return 1;
}
