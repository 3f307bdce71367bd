/* Histograms for tests. */
#ifndef JTOOL_TESTS_SAMPLE_HISTO_H
#define JTOOL_TESTS_SAMPLE_HISTO_H

#include <stdio.h>
#include <string.h>

#include "model/histo/histo.h"

static inline const struct histo_row *find(const struct histo *h, const char *name)
{
	for (size_t i = 0; i < h->n; i++) {
		if (strcmp(h->rows[i].name, name) == 0)
			return &h->rows[i];
	}
	return NULL;
}

/* Returns the rows in order, as NAME:INSTANCES/BYTES: "b:1/10 a:2/5". */
static inline const char *rows(const struct histo *h)
{
	static char text[1024];
	size_t len = 0;

	text[0] = '\0';
	for (size_t i = 0; i < h->n; i++)
		len += (size_t)snprintf(text + len, sizeof(text) - len, "%s%s:%lld/%lld",
					i ? " " : "", h->rows[i].name,
					(long long)h->rows[i].instances,
					(long long)h->rows[i].bytes);
	return text;
}

static inline struct histo sample(void)
{
	struct histo h = { 0 };

	histo_add(&h, "a.b.Two", "app", NULL, 2, 50);
	histo_add(&h, "a.b.One", "app", NULL, 7, 10);
	histo_add(&h, "a.c.Two[]", "bootstrap", "m", 1, 50);
	histo_add(&h, "int[][]", "bootstrap", "java.base", 3, 30);
	histo_add(&h, "Main$$Lambda/0x00007f.1", "app", NULL, 1, 16);
	return h;
}

#endif
