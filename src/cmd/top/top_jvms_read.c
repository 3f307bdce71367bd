/* top: reads the values of all JVMs, and updates the list of JVMs when JVMs end or start. */
#include <string.h>

#include "base/xalloc.h"
#include "cmd/top/top_internal.h"
#include "proc/process_set.h"
#include "worker/worker_pool.h"

/* interval in ms between searches for JVMs; a search takes longer than reading the known JVMs */
#define SEARCH_MS 3000

void top_list_begin(struct top_list *l, struct jvm_list *found)
{
	*l = (struct top_list){ .found = *found };
	*found = (struct jvm_list){ NULL, 0 };
	l->sources = xcalloc(l->found.n + 1, sizeof(*l->sources));
	l->rows = xcalloc(l->found.n + 1, sizeof(*l->rows));
	for (size_t i = 0; i < l->found.n; i++)
		top_source_begin(&l->sources[i], l->found.jvms[i]);
	l->due_ns = deadline_in_ms(SEARCH_MS).at_ns;
}

void top_list_end(struct top_list *l)
{
	free(l->sources);
	free(l->rows);
	jvm_list_release(&l->found);
	*l = (struct top_list){ .sources = NULL };
}

/* For each JVM that is in both lists, moves its state from `before`, the old list, to `now`. */
static void keep_sources(struct top_list *now, struct top_list *before)
{
	size_t old = 0;

	for (size_t i = 0; i < now->found.n; i++) {
		const struct jvm *jvm = now->found.jvms[i];

		while (old < before->found.n && before->found.jvms[old]->pid < jvm->pid)
			old++;
		if (old == before->found.n)
			break;
		if (before->found.jvms[old]->pid != jvm->pid ||
		    before->found.jvms[old]->start_ticks != jvm->start_ticks)
			continue;
		now->sources[i] = before->sources[old];
		now->sources[i].jvm = jvm;
	}
	now->at_s = before->at_s;
}

/*
 * JVMs whose file systems do not answer, and which workers do not inspect again while a worker is
 * blocked: see discover_all().  Static, because it must outlive a struct top_list.
 */
static struct process_set hung;

static int search(struct top_list *l, const struct procfs *proc, struct err *err)
{
	struct jvm_list found = { NULL, 0 };
	struct top_list now;

	if (monotonic_ns() < l->due_ns)
		return 0;
	if (worker_pool_reap_killed())
		hung.n = 0;
	if (discover_all(proc, false, &hung, &found, err) < 0)
		return -1;
	top_list_begin(&now, &found);
	keep_sources(&now, l);
	top_list_end(l);
	*l = now;
	return 0;
}

struct reading {
	struct top_list *list;
	const struct procfs *proc;
};

/* Adds the row of JVM `i`.  If the JVM has no counters, the row only has the values from /proc. */
static void visit(void *arg, size_t i, struct perfdata *perf, const struct err *err)
{
	const struct reading *r = arg;
	struct top_list *l = r->list;

	(void)err;
	if (top_source_read(&l->sources[i], r->proc, perf, &l->rows[l->n_rows]) == 0)
		l->n_rows++;
}

int top_list_read(struct top_list *l, const struct procfs *proc, struct err *err)
{
	struct reading r = { l, proc };
	double at_s;

	if (search(l, proc, err) < 0)
		return -1;
	l->n_rows = 0;
	hsperf_each(l->found.jvms, l->found.n, false, visit, &r);
	at_s = (double)monotonic_ns() / 1e9;
	l->seconds = l->at_s > 0 ? at_s - l->at_s : 0;
	l->at_s = at_s;
	return 0;
}
