#include "cmd/top/top_source.h"

#include <errno.h>
#include <string.h>

#include "base/deadline.h"
#include "discover/cgroup.h"
#include "discover/cpu_limit.h"
#include "proc/stat_line.h"
#include "proc/vm_stats.h"

#define LIMITS_MS 10000
#define STAT_MAX 1024

void top_source_begin(struct top_source *s, const struct jvm *jvm)
{
	*s = (struct top_source){ .jvm = jvm, .cpu_limit = -1, .memory_limit = -1 };
}

static int read_process(const struct top_source *s, const struct procfs *proc,
			struct stat_line *line)
{
	_cleanup_buf_ struct buf text = BUF_INIT;

	if (procfs_read(proc, s->jvm->pid, "stat", &text, STAT_MAX) < 0 ||
	    stat_line_parse(buf_str(&text), line) < 0 ||
	    line->start_ticks != s->jvm->start_ticks || line->state == 'Z' || line->state == 'X')
		return -ESRCH;
	return 0;
}

/* Adds n to *sum, which is -1 if it is unknown. */
static void add_count(int64_t *sum, int64_t n)
{
	if (__builtin_add_overflow(*sum < 0 ? 0 : *sum, n, sum))
		*sum = INT64_MAX;
}

/*
 * Sets gc_s, collections and all_collections.  r->collections counts only the collections of the
 * first two collectors, one for each generation, because only these collections empty eden.  A
 * third collector counts concurrent cycles.
 */
static void take_collectors(const struct vm_stats *stats, struct vm_reading *r)
{
	for (size_t i = 0; i < stats->n_collectors; i++) {
		const struct collector *c = &stats->collectors[i];

		if (c->seconds >= 0)
			r->gc_s = (r->gc_s < 0 ? 0 : r->gc_s) + c->seconds;
		if (c->count < 0)
			continue;
		add_count(&r->all_collections, c->count);
		if (i < 2)
			add_count(&r->collections, c->count);
	}
}

static void take_counters(const struct perfdata *perf, struct vm_reading *r)
{
	const struct space *eden;
	struct vm_stats stats;

	vm_stats_read(perf, &stats);
	take_collectors(&stats, r);
	r->safepoint_s = stats.safepoint_seconds;
	r->heap_used = stats.used;
	r->heap_committed = stats.committed;
	r->heap_after = stats.used_after;
	eden = vm_stats_space(&stats, "eden");
	if (eden) {
		r->eden_used = eden->used;
		r->eden_capacity = eden->committed;
	}
	/*
	 * The counter for heap_used changes only in collections, unless the heap is one space
	 * "Heap" (Shenandoah, Epsilon).  If the heap has an eden, used_lags is not used.
	 */
	r->used_lags = !eden && !vm_stats_space(&stats, "Heap");
}

static void read_limits(struct top_source *s, const struct procfs *proc)
{
	struct cgroup group;

	if (monotonic_ns() < s->limits_due_ns)
		return;
	cgroup_read(proc, s->jvm->pid, &group);
	s->memory_limit = group.memory_limit;
	s->cpu_limit = cpu_limit(s->jvm->pid);
	s->limits_due_ns = deadline_in_ms(LIMITS_MS).at_ns;
}

int top_source_read(struct top_source *s, const struct procfs *proc, const struct perfdata *perf,
		    struct top_jvm *row)
{
	struct vm_reading r = { .gc_s = -1, .safepoint_s = -1, .collections = -1,
				.all_collections = -1, .heap_used = -1, .heap_committed = -1,
				.heap_after = -1, .eden_used = -1, .eden_capacity = -1 };
	const struct jvm *jvm = s->jvm;
	struct cgroup_cpu group;
	struct stat_line line;
	int rc = read_process(s, proc, &line);

	if (rc < 0)
		return rc;
	r.at_s = (double)monotonic_ns() / 1e9;
	r.cpu_s = line.cpu_s;
	cgroup_cpu_read(proc, jvm->pid, &group);
	r.throttled_s = group.throttled_s;
	if (perf)
		take_counters(perf, &r);
	read_limits(s, proc);
	*row = (struct top_jvm){
		.pid = (int)jvm->pid, .main = jvm_simple_main(jvm), .version = jvm->version,
		.gc = jvm->gc, .cpu_s = line.cpu_s, .cpu_limit = s->cpu_limit,
		.resident = line.resident, .memory_limit = s->memory_limit,
		.heap_max = jvm->heap_max, .threads = line.threads, .uptime = jvm->uptime,
	};
	if (jvm->uptime >= 0)
		row->uptime += (double)(monotonic_ns() - jvm->listed_ns) / 1e9;
	vm_rates_update(&s->history, &r, &row->rates);
	return 0;
}
