#include "model/top/top_jvms.h"

#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"
#include "wire/glob.h"

struct choice {
	const struct top_jvm *jvm;
	size_t index;
	const struct top_filter *filter;
};

static const char *name_of(const struct top_jvm *jvm)
{
	return jvm->main ? jvm->main : "";
}

static double value_of(const struct top_jvm *jvm, enum top_sort sort)
{
	switch (sort) {
	case TOP_SORT_TIME:
		return jvm->cpu_s;
	case TOP_SORT_RSS:
		return (double)jvm->resident;
	case TOP_SORT_HEAP:
		return (double)jvm->rates.heap_used;
	case TOP_SORT_GC:
		return jvm->rates.gc_percent;
	case TOP_SORT_ALLOC:
		return jvm->rates.allocation;
	default:
		return jvm->rates.cpu_percent;
	}
}

/* Compares two JVMs for sorting: numbers in descending order, names and pids in ascending order. */
static int by_filter(const void *a, const void *b)
{
	const struct choice *x = a, *y = b;
	enum top_sort sort = x->filter->sort;
	double first = value_of(x->jvm, sort), second = value_of(y->jvm, sort);
	int order = (second > first) - (second < first);

	if (sort == TOP_SORT_NAME)
		order = strcmp(name_of(x->jvm), name_of(y->jvm));
	if (sort == TOP_SORT_ID || order == 0)
		order = (x->jvm->pid > y->jvm->pid) - (x->jvm->pid < y->jvm->pid);
	return x->filter->reverse ? -order : order;
}

size_t *top_jvms_choose(const struct top_jvm *jvms, size_t n_jvms, const struct top_filter *filter,
			size_t *n)
{
	struct choice *choices = xcalloc(n_jvms + 1, sizeof(*choices));
	size_t *rows = xcalloc(n_jvms + 1, sizeof(*rows));

	*n = 0;
	for (size_t i = 0; i < n_jvms; i++) {
		if (!filter->glob || glob_matches(filter->glob, name_of(&jvms[i])))
			choices[(*n)++] = (struct choice){ &jvms[i], i, filter };
	}
	if (*n > 0)
		qsort(choices, *n, sizeof(*choices), by_filter);
	for (size_t i = 0; i < *n; i++)
		rows[i] = choices[i].index;
	free(choices);
	return rows;
}
