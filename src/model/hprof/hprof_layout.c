/*
 * Derives properties that a dump does not record: the release of the JVM, the layout of objects,
 * the labels of class loaders.
 */
#include <string.h>

#include "base/xalloc.h"
#include "model/hprof/hprof_internal.h"
#include "model/class/class_origins.h"

/* score() subtracts this for each object that would overlap the next one; a gap costs nothing */
#define OVERLAP_COST 64

int hprof_name_loaders(struct hprof_reader *r, struct err *err)
{
	for (uint32_t i = 0; i < r->classes.n; i++) {
		const uint64_t loader = r->classes.list[i].loader;
		struct heap_class *c = &r->heap->classes[i];
		const char *class = "?";
		uint32_t number;

		free(c->loader);
		number = id_map_get(&r->classes.of_loaders, loader);
		if (number < r->classes.n)
			class = heap_class_name(r->heap, number);
		/*
		 * Use the address as hash in the label, because a dump does not have the identity
		 * hash.
		 */
		c->loader = loader == 0 ? xstrdup("bootstrap")
					: class_origins_label(class, "", (uint32_t)(loader >> 3));
		c->permanent = class_origins_loader_is_permanent(c->loader);
		/* check after each label, because many loaders' labels can copy one long name */
		hprof_charge(r, strlen(c->loader));
		if (hprof_check_memory(r, err) < 0)
			return -1;
	}
	return 0;
}

static bool declares(const struct hprof_reader *r, const char *class, const char *field)
{
	for (uint32_t i = 0; i < r->classes.n; i++) {
		const struct hprof_class *k = &r->classes.list[i];

		if (k->loader || strcmp(heap_class_name(r->heap, i), class) != 0)
			continue;
		for (uint32_t j = 0; j < k->fields.n; j++) {
			if (hprof_field_is(&r->tables, &k->fields.list[j], field))
				return true;
		}
	}
	return false;
}

/*
 * Guesses the JVM's release by fields that were added to the JDK's classes.  Returns the newest
 * release in `markers` whose field is in the dump; or 8 if none of the fields is.  Every JVM loads
 * the classes in `markers`, so every dump contains these classes.
 */
static unsigned guess_release(const struct hprof_reader *r)
{
	static const struct {
		const char *class, *field;
		unsigned release;
	} markers[] = {
		{ "java.lang.Class", "classFileAccessFlags", 27 },
		{ "java.lang.Class", "protectionDomain", 25 },
		{ "java.lang.Thread", "scopedValueBindings", 21 },
		{ "java.lang.Class", "classData", 17 },
		{ "java.lang.String", "coder", 11 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(markers); i++) {
		if (declares(r, markers[i].class, markers[i].field))
			return markers[i].release;
	}
	return 8;
}

static int by_address(const void *a, const void *b)
{
	const struct hprof_sampled *x = a, *y = b;

	return (x->address > y->address) - (x->address < y->address);
}

/*
 * Returns the sampled objects and all class objects, sorted by address.  score() uses the address
 * of a class object only as the limit for the size of the object before it.  The caller frees the
 * array.
 */
static struct hprof_sampled *sample_by_address(const struct hprof_reader *r, size_t *n)
{
	struct hprof_sampled *all =
		xreallocarray(NULL, r->sample.n + r->classes.n + 1, sizeof(*all));

	*n = r->sample.n;
	if (*n)
		memcpy(all, r->sample.list, *n * sizeof(*all));
	for (uint32_t i = 0; i < r->classes.n; i++)
		all[(*n)++] = (struct hprof_sampled){ .address = r->classes.list[i].id,
						      .class = GRAPH_NONE };
	qsort(all, *n, sizeof(*all), by_address);
	return all;
}

static uint64_t size_by(const struct object_layout *l, const struct hprof_sampled *o,
			const struct object_layout_shape *shapes)
{
	if (o->element == 0)
		return shapes[o->class].size;
	return object_layout_array(
		l, o->element == HPROF_SAMPLED_REFS ? l->reference : o->element, o->length);
}

/*
 * Returns a score of how well the object sizes of a layout fit the distances between objects.  A
 * higher score is better.
 */
static int64_t score(struct hprof_reader *r, const struct object_layout *l,
		     const struct hprof_sampled *all, size_t n)
{
	_cleanup_free_ struct object_layout_shape *shapes =
		xcalloc(r->classes.n + 1, sizeof(*shapes));
	_cleanup_free_ bool *shaped = xcalloc(r->classes.n + 1, sizeof(*shaped));
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

struct object_layout hprof_guess_layout(struct hprof_reader *r)
{
	/* Likely layouts are first: of several layouts with the best score, the first is chosen. */
	static const struct object_layout candidates[] = {
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
	struct object_layout best = { 0 };
	int64_t best_score = INT64_MIN;
	_cleanup_free_ struct hprof_sampled *all = NULL;
	const unsigned release = guess_release(r);
	size_t n;

	all = sample_by_address(r, &n);
	for (size_t i = 0; i < ARRAY_SIZE(candidates) * ARRAY_SIZE(alignments); i++) {
		struct object_layout l = candidates[i % ARRAY_SIZE(candidates)];
		int64_t s;

		l.alignment = alignments[i / ARRAY_SIZE(candidates)];
		l.release = release;
		s = score(r, &l, all, n);
		if (s <= best_score)
			continue;
		best = l;
		best_score = s;
	}
	return best;
}
