#include "model/dumpname.h"

#include <string.h>
#include <strings.h>

#include "base/outdir.h"
#include "base/xalloc.h"
#include "wire/frame.h"

/* Sorted by name, its namesakes stand beside it. */
static bool has_namesake(const struct classes *c, size_t i)
{
	const char *name = c->rows[i].name;

	return (i > 0 && strcmp(c->rows[i - 1].name, name) == 0) ||
	       (i + 1 < c->n && strcmp(c->rows[i + 1].name, name) == 0);
}

/* The loaders that every JVM has are known by a word; others by class, name and identity. */
static void add_loader(struct buf *out, const struct places *places, uint32_t id)
{
	_cleanup_buf_ struct buf text = BUF_INIT;
	const char *label = places_loader(places, id);

	if (id == 0 || !strchr(label, ' ')) {
		buf_addf(&text, "loader.%s", label);
	} else {
		const struct place_loader *loader = &places->loaders[id - 1];

		buf_addf(&text, "loader.%s%s%s@%x", loader->class, *loader->name ? "-" : "",
			 loader->name, loader->hash);
	}
	outdir_add(out, text.data, text.len, "");
}

/* "Lp/C;", without its frame. */
static void add_class(struct buf *out, const char *signature)
{
	const char *at = signature + 1, *end = signature + strlen(signature) - 1;

	for (;;) {
		const char *slash = memchr(at, '/', (size_t)(end - at));

		if (!slash)
			break;
		outdir_add(out, at, (size_t)(slash - at), "");
		at = slash + 1;
	}
	outdir_add(out, at, (size_t)(end - at), ".class");
}

static char *make_name(const struct classes *c, size_t i)
{
	struct buf name = BUF_INIT;

	if (c->rows[i].traits & WIRE_CLASS_ARRAY)
		return NULL;
	if (has_namesake(c, i))
		add_loader(&name, &c->places, c->rows[i].loader);
	add_class(&name, c->rows[i].signature);
	return buf_take(&name);
}

/* Without regard to case, those that are the same in each other's neighbourhood. */
static int compare(const void *a, const void *b)
{
	const struct dumpname *const *x = a, *const *y = b;
	int order = strcasecmp((*x)->name, (*y)->name);

	if (order == 0)
		order = strcmp((*x)->name, (*y)->name);
	return order ? order : (*x > *y) - (*x < *y);
}

static void find_clashes(struct dumpname *names, size_t n)
{
	struct dumpname **sorted = xreallocarray(NULL, n + 1, sizeof(*sorted));
	size_t n_sorted = 0;

	for (size_t i = 0; i < n; i++) {
		if (names[i].name)
			sorted[n_sorted++] = &names[i];
	}
	qsort(sorted, n_sorted, sizeof(*sorted), compare);
	for (size_t i = 1; i < n_sorted; i++) {
		sorted[i]->taken = strcmp(sorted[i - 1]->name, sorted[i]->name) == 0;
		sorted[i]->twin = strcasecmp(sorted[i - 1]->name, sorted[i]->name) == 0;
	}
	free(sorted);
}

struct dumpname *dumpname_all(const struct classes *c)
{
	struct dumpname *names = xcalloc(c->n + 1, sizeof(*names));

	for (size_t i = 0; i < c->n; i++)
		names[i].name = make_name(c, i);
	find_clashes(names, c->n);
	return names;
}

void dumpname_free(struct dumpname *names, size_t n)
{
	for (size_t i = 0; i < n; i++)
		free(names[i].name);
	free(names);
}
