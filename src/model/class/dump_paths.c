#include "model/class/dump_paths.h"

#include <string.h>
#include <strings.h>

#include "fileio/safe_dir.h"
#include "base/xalloc.h"
#include "wire/frame.h"

/*
 * Returns true if another class has the same name as class i.  The classes are sorted by name, so
 * such a class is next to class i.
 */
static bool has_namesake(const struct classes *c, size_t i)
{
	const char *name = c->rows[i].name;

	return (i > 0 && strcmp(c->rows[i - 1].name, name) == 0) ||
	       (i + 1 < c->n && strcmp(c->rows[i + 1].name, name) == 0);
}

/*
 * Adds the name of a loader's folder: "loader." and the label of a built-in loader (one word), or
 * the class, name and hash of any other loader.
 */
static void add_loader(struct buf *out, const struct class_origins *origins, uint32_t id)
{
	_cleanup_buf_ struct buf text = BUF_INIT;
	const char *label = class_origins_loader(origins, id);

	if (id == 0 || !strchr(label, ' ')) {
		buf_addf(&text, "loader.%s", label);
	} else {
		const struct class_loader *loader = &origins->loaders[id - 1];

		buf_addf(&text, "loader.%s%s%s@%x", loader->class, *loader->name ? "-" : "",
			 loader->name, loader->hash);
	}
	safe_dir_add(out, text.data, text.len, "");
}

/* Adds the path of the class file for a signature: "p/C.class" for "Lp/C;". */
static void add_class(struct buf *out, const char *signature)
{
	const char *at = signature + 1, *end = signature + strlen(signature) - 1;

	for (;;) {
		const char *slash = memchr(at, '/', (size_t)(end - at));

		if (!slash)
			break;
		safe_dir_add(out, at, (size_t)(slash - at), "");
		at = slash + 1;
	}
	safe_dir_add(out, at, (size_t)(end - at), ".class");
}

static char *make_name(const struct classes *c, size_t i)
{
	struct buf name = BUF_INIT;

	if (c->rows[i].traits & WIRE_CLASS_ARRAY)
		return NULL;
	if (has_namesake(c, i))
		add_loader(&name, &c->origins, c->rows[i].loader);
	add_class(&name, c->rows[i].signature);
	return buf_take(&name);
}

/* Orders by name without case, so that paths that differ only in case are adjacent. */
static int compare(const void *a, const void *b)
{
	const struct dump_path *const *x = a, *const *y = b;
	int order = strcasecmp((*x)->name, (*y)->name);

	if (order == 0)
		order = strcmp((*x)->name, (*y)->name);
	return order ? order : (*x > *y) - (*x < *y);
}

static void find_clashes(struct dump_path *names, size_t n)
{
	struct dump_path **sorted = xreallocarray(NULL, n + 1, sizeof(*sorted));
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

struct dump_path *dump_paths_new(const struct classes *c)
{
	struct dump_path *names = xcalloc(c->n + 1, sizeof(*names));

	for (size_t i = 0; i < c->n; i++)
		names[i].name = make_name(c, i);
	find_clashes(names, c->n);
	return names;
}

void dump_paths_free(struct dump_path *names, size_t n)
{
	for (size_t i = 0; i < n; i++)
		free(names[i].name);
	free(names);
}
