/* What a dump does not say: which JVM wrote it, how that lays out objects, what loaders are. */
#include <string.h>

#include "base/xalloc.h"
#include "model/hprof_parts.h"
#include "model/places.h"

#define OVERLAP_COST 64 /* two objects in one place are nowhere; a hole behind one is common */

void hprof_name_loaders(struct hprof_reader *r)
{
	for (uint32_t i = 0; i < r->n_classes; i++) {
		const uint64_t loader = r->classes[i].loader;
		struct heap_class *c = &r->heap->classes[i];
		const char *class = "?";
		uint32_t number;

		free(c->loader);
		number = idmap_get(&r->loader_classes, loader);
		if (number < r->n_classes)
			class = heap_class_name(r->heap, number);
		/* Identity hashes are not in a dump: the address tells loaders apart as well. */
		c->loader = loader == 0 ? xstrdup("bootstrap")
					: places_label(class, "", (uint32_t)(loader >> 3));
		c->lasting = places_label_lasts(c->loader);
	}
}

static bool declares(const struct hprof_reader *r, const char *class, const char *field)
{
	for (uint32_t i = 0; i < r->n_classes; i++) {
		const struct hprof_class *k = &r->classes[i];

		if (k->loader || strcmp(heap_class_name(r->heap, i), class) != 0)
			continue;
		for (uint32_t j = 0; j < k->n_fields; j++) {
			if (hprof_field_is(r, &k->fields[j], field))
				return true;
		}
	}
	return false;
}

/* By fields that came with it, of classes that every JVM has; the LTS release before others. */
static unsigned guess_release(const struct hprof_reader *r)
{
	static const struct {
		const char *class, *field;
		unsigned release;
	} news[] = {
		{ "java.lang.Class", "classFileAccessFlags", 27 },
		{ "java.lang.Class", "protectionDomain", 25 },
		{ "java.lang.Thread", "scopedValueBindings", 21 },
		{ "java.lang.Class", "classData", 17 },
		{ "java.lang.String", "coder", 11 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(news); i++) {
		if (declares(r, news[i].class, news[i].field))
			return news[i].release;
	}
	return 8;
}

static int by_address(const void *a, const void *b)
{
	const struct hprof_seen *x = a, *y = b;

	return (x->address > y->address) - (x->address < y->address);
}

/* With the class objects, whose own size is not what is asked. */
static struct hprof_seen *in_order(const struct hprof_reader *r, size_t *n)
{
	struct hprof_seen *all = xreallocarray(NULL, r->n_seen + r->n_classes + 1, sizeof(*all));

	*n = r->n_seen;
	if (*n)
		memcpy(all, r->seen, *n * sizeof(*all));
	for (uint32_t i = 0; i < r->n_classes; i++)
		all[(*n)++] = (struct hprof_seen){ .address = r->classes[i].id,
						   .class = GRAPH_NONE };
	qsort(all, *n, sizeof(*all), by_address);
	return all;
}

static uint64_t size_by(const struct layout *l, const struct hprof_seen *seen,
			const struct layout_shape *shapes)
{
	if (seen->element == 0)
		return shapes[seen->class].size;
	return layout_array(l, seen->element == HPROF_SEEN_REFS ? l->reference : seen->element,
			    seen->length);
}

/* How well sizes by this layout fill the distances. */
static int64_t score(struct hprof_reader *r, const struct layout *l, const struct hprof_seen *all,
		     size_t n)
{
	_cleanup_free_ struct layout_shape *shapes = xcalloc(r->n_classes + 1, sizeof(*shapes));
	_cleanup_free_ bool *shaped = xcalloc(r->n_classes + 1, sizeof(*shaped));
	int64_t sum = 0;

	for (size_t i = 0; i + 1 < n; i++) {
		const uint64_t gap = all[i + 1].address - all[i].address;
		uint64_t size;

		if (all[i].class == GRAPH_NONE || gap == 0)
			continue;
		if (hprof_shape(r, l, all[i].class, shapes, shaped) < 0)
			return INT64_MIN;
		size = size_by(l, &all[i], shapes);
		if (size > gap)
			sum -= OVERLAP_COST;
		else
			sum += size == gap;
	}
	return sum;
}

struct layout hprof_guess_layout(struct hprof_reader *r)
{
	/* Compressed references and classes or not, compact headers; the likely ones first. */
	static const struct layout ways[] = {
		{ .reference = 4, .header = 12, .array_header = 16 },
		{ .reference = 4, .header = 8, .array_header = 12 },
		{ .reference = 8, .header = 12, .array_header = 16 },
		{ .reference = 8, .header = 16, .array_header = 24 },
		{ .reference = 8, .header = 16, .array_header = 20 },
		{ .reference = 8, .header = 8, .array_header = 12 },
		{ .reference = 4, .header = 16, .array_header = 24 },
		{ .reference = 4, .header = 16, .array_header = 20 },
	};
	static const unsigned alignments[] = { 8, 16, 32 };
	struct layout best = { 0 };
	int64_t best_score = INT64_MIN;
	_cleanup_free_ struct hprof_seen *all = NULL;
	const unsigned release = guess_release(r);
	size_t n;

	all = in_order(r, &n);
	for (size_t i = 0; i < ARRAY_SIZE(ways) * ARRAY_SIZE(alignments); i++) {
		struct layout l = ways[i % ARRAY_SIZE(ways)];
		int64_t s;

		l.alignment = alignments[i / ARRAY_SIZE(ways)];
		l.release = release;
		s = score(r, &l, all, n);
		if (s <= best_score)
			continue;
		best = l;
		best_score = s;
	}
	return best;
}
