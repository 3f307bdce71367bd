/* Counters for tests, in place of a JVM's: a table that ends with a NULL name. */
#ifndef JTOOL_TESTS_READINGS_H
#define JTOOL_TESTS_READINGS_H

#include <math.h>
#include <string.h>

#include "model/readings.h"

struct counted {
	const char *name;
	double number;
	const char *text;
};

static const struct counted *counted_find(const struct counted *c, const char *name)
{
	for (; c->name; c++) {
		if (strcmp(c->name, name) == 0)
			return c;
	}
	return NULL;
}

static double counted_number(const void *of, const char *name)
{
	const struct counted *c = counted_find(of, name);

	return c && !c->text ? c->number : NAN;
}

static const char *counted_text(const void *of, const char *name)
{
	const struct counted *c = counted_find(of, name);

	return c ? c->text : NULL;
}

static struct readings counted_readings(const struct counted *table)
{
	return (struct readings){ .of = table, .number = counted_number, .text = counted_text };
}

#endif
