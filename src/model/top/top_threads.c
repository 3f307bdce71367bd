#include "model/top/top_threads.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/xalloc.h"
#include "wire/glob.h"

const char *const top_sort_names[] = { "cpu", "time", "name", "id",
				       "rss", "heap", "gc",   "alloc", NULL };

static struct top_thread begin(const struct thread_reading *r)
{
	struct top_thread t = { .tid = r->tid, .start_ticks = r->start_ticks, .id = -1,
				.cpu_percent = -1 };

	return t;
}

static void take(struct top_thread *t, const struct thread_reading *r, bool is_later,
		 double seconds)
{
	/*
	 * A thread without an earlier reading is new: all of its CPU time is later than the
	 * previous reading of the process.
	 */
	double before = t->readings > 0 ? t->cpu_s : 0;

	if (is_later && seconds > 0)
		t->cpu_percent = r->cpu_s > before ? (r->cpu_s - before) / seconds * 100 : 0;
	t->cpu_s = r->cpu_s;
	t->state = r->state;
	memcpy(t->comm, r->comm, sizeof(t->comm));
	t->comm[sizeof(t->comm) - 1] = '\0';
	t->readings++;
}

void top_threads_update(struct top_threads *t, const struct thread_reading *readings, size_t n,
			double seconds)
{
	struct top_thread *list = xcalloc(n + 1, sizeof(*list));
	size_t old = 0;

	for (size_t i = 0; i < n; i++) {
		const struct thread_reading *r = &readings[i];

		while (old < t->n && t->list[old].tid < r->tid)
			free(t->list[old++].name);
		if (old < t->n && t->list[old].tid == r->tid &&
		    t->list[old].start_ticks == r->start_ticks)
			list[i] = t->list[old++];
		else
			list[i] = begin(r);
		take(&list[i], r, t->is_later, seconds);
	}
	while (old < t->n)
		free(t->list[old++].name);
	free(t->list);
	*t = (struct top_threads){ list, n, true };
}

void top_threads_release(struct top_threads *t)
{
	for (size_t i = 0; i < t->n; i++)
		free(t->list[i].name);
	free(t->list);
	*t = (struct top_threads){ NULL, 0, false };
}

bool top_threads_are_unknown(const struct top_threads *t)
{
	for (size_t i = 0; i < t->n; i++) {
		if (!t->list[i].is_asked && t->list[i].readings > 1)
			return true;
	}
	return false;
}

void top_threads_ask(struct top_threads *t)
{
	for (size_t i = 0; i < t->n; i++)
		t->list[i].is_asked = true;
}

static int by_tid(const void *a, const void *b)
{
	const struct top_thread *x = a, *y = b;

	return (x->tid > y->tid) - (x->tid < y->tid);
}

void top_threads_name(struct top_threads *t, const struct thread_dump *dump)
{
	for (size_t i = 0; i < dump->n && t->n > 0; i++) {
		const struct dump_thread *d = &dump->threads[i];
		const struct top_thread key = { .tid = d->tid };
		struct top_thread *found = bsearch(&key, t->list, t->n, sizeof(key), by_tid);

		/*
		 * If is_asked is false, `found` was added after the dump was requested.  Then `d`
		 * may be an older thread that had the same tid.
		 */
		if (!found || d->tid < 0 || d->virtual || !found->is_asked || !*d->name)
			continue;
		free(found->name);
		found->name = xstrdup(d->name);
		found->id = d->id;
		found->daemon = d->daemon;
	}
}

const char *top_thread_name(const struct top_thread *t)
{
	return t->name ? t->name : t->comm;
}

/* The letters of states in /proc/PID/task/TID/stat, and the words that jtool prints for them. */
static const struct {
	const char *letters, *name;
} states[] = {
	{ "R", "running" }, /* or waiting for a CPU */
	{ "S", "sleeping" }, { "D", "disk" },  { "Tt", "stopped" },
	{ "ZX", "dead" },    { "I", "idle" },
};

const char *top_thread_state(const struct top_thread *t)
{
	for (size_t i = 0; i < ARRAY_SIZE(states); i++) {
		if (t->state && strchr(states[i].letters, t->state))
			return states[i].name;
	}
	return "?";
}

bool top_thread_is_state(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(states); i++) {
		if (strcasecmp(name, states[i].name) == 0)
			return true;
	}
	return false;
}

struct choice {
	const struct top_thread *thread;
	size_t index;
	const struct top_filter *filter;
};

static int by_real(double a, double b)
{
	return (a > b) - (a < b);
}

/* Compares two threads for sorting: CPU and time in descending order, names and ids ascending. */
static int compare(const struct top_thread *a, const struct top_thread *b, enum top_sort sort)
{
	int by_cpu = by_real(b->cpu_percent, a->cpu_percent);
	int by_time = by_real(b->cpu_s, a->cpu_s);

	switch (sort) {
	case TOP_SORT_NAME:
		return strcmp(top_thread_name(a), top_thread_name(b));
	case TOP_SORT_ID:
		return by_tid(a, b);
	case TOP_SORT_TIME:
		return by_time ? by_time : by_cpu;
	default:
		return by_cpu ? by_cpu : by_time;
	}
}

static int by_filter(const void *a, const void *b)
{
	const struct choice *x = a, *y = b;
	int order = compare(x->thread, y->thread, x->filter->sort);

	if (order == 0)
		order = x->index < y->index ? -1 : 1;
	return x->filter->reverse ? -order : order;
}

static bool matches(const struct top_thread *t, const struct top_filter *filter)
{
	if (filter->state && strcasecmp(filter->state, top_thread_state(t)) != 0)
		return false;
	return !filter->glob || glob_matches(filter->glob, top_thread_name(t));
}

size_t *top_threads_choose(const struct top_threads *t, const struct top_filter *filter, size_t *n)
{
	struct choice *choices = xcalloc(t->n + 1, sizeof(*choices));
	size_t *rows = xcalloc(t->n + 1, sizeof(*rows));

	*n = 0;
	for (size_t i = 0; i < t->n; i++) {
		if (matches(&t->list[i], filter))
			choices[(*n)++] = (struct choice){ &t->list[i], i, filter };
	}
	if (*n > 0)
		qsort(choices, *n, sizeof(*choices), by_filter);
	for (size_t i = 0; i < *n; i++)
		rows[i] = choices[i].index;
	free(choices);
	return rows;
}
