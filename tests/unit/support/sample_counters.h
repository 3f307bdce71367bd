/* A counter source for tests: a table that ends with a NULL name. */
#ifndef JTOOL_TESTS_SAMPLE_COUNTERS_H
#define JTOOL_TESTS_SAMPLE_COUNTERS_H

#include <math.h>
#include <string.h>

#include "model/vm/counter_source.h"

struct sample_counter {
	const char *name;
	double number;
	const char *text;
};

static const struct sample_counter *sample_find(const struct sample_counter *c, const char *name)
{
	for (; c->name; c++) {
		if (strcmp(c->name, name) == 0)
			return c;
	}
	return NULL;
}

static double sample_number(const void *of, const char *name)
{
	const struct sample_counter *c = sample_find(of, name);

	return c && !c->text ? c->number : NAN;
}

static const char *sample_text(const void *of, const char *name)
{
	const struct sample_counter *c = sample_find(of, name);

	return c ? c->text : NULL;
}

static struct counter_source sample_counters(const struct sample_counter *table)
{
	return (struct counter_source){ .of = table,
					.number = sample_number,
					.text = sample_text };
}

#endif
