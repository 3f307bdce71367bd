#include "model/histo/histo.h"

#include <limits.h>
#include <string.h>

#include "base/xalloc.h"
#include "model/class/type_name.h"

static void row_release(struct histo_row *row)
{
	free(row->name);
	free(row->loader);
	free(row->module);
}

void histo_release(struct histo *h)
{
	for (size_t i = 0; i < h->n; i++)
		row_release(&h->rows[i]);
	free(h->rows);
	*h = (struct histo){ 0 };
}

static char *copy(const char *text)
{
	return text ? xstrdup(text) : NULL;
}

void histo_add(struct histo *h, const char *name, const char *loader, const char *module,
	       int64_t instances, int64_t bytes)
{
	h->rows = xgrow(h->rows, h->n, &h->cap, sizeof(*h->rows));
	h->rows[h->n++] = (struct histo_row){
		.name = xstrdup(name),
		.loader = copy(loader),
		.module = copy(module),
		.classes = 1,
		.instances = instances,
		.bytes = bytes,
	};
}

/* Adds n to *sum.  The values are not trusted, so the sum stops at the bounds of its type. */
static void add(int64_t *sum, int64_t n)
{
	if (__builtin_add_overflow(*sum, n, sum))
		*sum = n < 0 ? INT64_MIN : INT64_MAX;
}

struct histo_total histo_total(const struct histo *h)
{
	struct histo_total total = { 0 };

	for (size_t i = 0; i < h->n; i++) {
		add(&total.classes, h->rows[i].classes);
		add(&total.instances, h->rows[i].instances);
		add(&total.bytes, h->rows[i].bytes);
	}
	return total;
}

/* Compares like strcmp(); NULL comes first. */
static int compare_text(const char *a, const char *b)
{
	if (!a || !b)
		return (a != NULL) - (b != NULL);
	return strcmp(a, b);
}

static int compare_name(const void *a, const void *b)
{
	const struct histo_row *x = a, *y = b;
	int order = strcmp(x->name, y->name);

	return order ? order : compare_text(x->loader, y->loader);
}

static int compare_bytes(const void *a, const void *b)
{
	const struct histo_row *x = a, *y = b;

	if (x->bytes != y->bytes)
		return x->bytes > y->bytes ? -1 : 1;
	return compare_name(a, b);
}

static int compare_count(const void *a, const void *b)
{
	const struct histo_row *x = a, *y = b;

	if (x->instances != y->instances)
		return x->instances > y->instances ? -1 : 1;
	return compare_name(a, b);
}

void histo_sort(struct histo *h, enum histo_sort by)
{
	static int (*const order[])(const void *, const void *) = {
		[HISTO_BY_BYTES] = compare_bytes,
		[HISTO_BY_COUNT] = compare_count,
		[HISTO_BY_NAME] = compare_name,
	};

	if (h->n > 1)
		qsort(h->rows, h->n, sizeof(*h->rows), order[by]);
}

/* Removes the rows for which keep() returns false. */
static void filter_rows(struct histo *h, bool (*keep)(const struct histo_row *, const void *),
			const void *arg)
{
	size_t kept = 0;

	for (size_t i = 0; i < h->n; i++) {
		if (keep(&h->rows[i], arg))
			h->rows[kept++] = h->rows[i];
		else
			row_release(&h->rows[i]);
	}
	h->n = kept;
}

static void row_merge(struct histo_row *into, struct histo_row *from)
{
	add(&into->classes, from->classes);
	add(&into->instances, from->instances);
	add(&into->bytes, from->bytes);
	if (!into->module)
		into->module = TAKE_PTR(from->module);
	row_release(from);
}

/* Sorts the rows by name, and merges the rows that have the same name and the same loader. */
static void merge_equal(struct histo *h)
{
	size_t kept = 0;

	histo_sort(h, HISTO_BY_NAME);
	for (size_t i = 0; i < h->n; i++) {
		if (kept > 0 && compare_name(&h->rows[kept - 1], &h->rows[i]) == 0)
			row_merge(&h->rows[kept - 1], &h->rows[i]);
		else
			h->rows[kept++] = h->rows[i];
	}
	h->n = kept;
}

/*
 * Returns the package of a class name.  Ignores the brackets of an array and the suffix of a hidden
 * class, which begins with '/'.
 */
char *histo_package(const char *name)
{
	size_t len = strcspn(name, "/[");

	if (name[len] == '[' && type_name_is_primitive(name, len))
		return xstrdup("(primitive arrays)");
	while (len > 0 && name[len - 1] != '.')
		len--;
	return len > 0 ? xstrndup(name, len - 1) : xstrdup("(default)");
}

static void row_become_package(struct histo_row *row)
{
	char *package = histo_package(row->name);

	free(row->name);
	free(row->loader);
	row->name = package;
	row->loader = NULL;
}

static void row_become_loader(struct histo_row *row)
{
	free(row->name);
	row->name = row->loader ? xstrdup(row->loader) : xstrdup("(unknown)");
}

void histo_group(struct histo *h, enum histo_group by)
{
	if (by == HISTO_CLASS)
		return;
	for (size_t i = 0; i < h->n; i++) {
		struct histo_row *row = &h->rows[i];

		if (by == HISTO_PACKAGE)
			row_become_package(row);
		else
			row_become_loader(row);
		free(row->module); /* a package or loader may have several modules */
		row->module = NULL;
	}
	merge_equal(h);
}

static bool name_matches(const struct histo_row *row, const void *glob)
{
	return type_name_is_chosen(row->name, glob);
}

void histo_filter(struct histo *h, const char *glob)
{
	filter_rows(h, name_matches, glob);
}

static bool has_loaders(const struct histo *h)
{
	for (size_t i = 0; i < h->n; i++) {
		if (!h->rows[i].loader)
			return false;
	}
	return true;
}

static void clear_loaders(struct histo *h)
{
	for (size_t i = 0; i < h->n; i++) {
		free(h->rows[i].loader);
		h->rows[i].loader = NULL;
	}
}

static bool has_changed(const struct histo_row *row, const void *unused)
{
	(void)unused;
	return row->instances != 0 || row->bytes != 0;
}

void histo_subtract(struct histo *now, const struct histo *base)
{
	bool by_loader = has_loaders(now) && has_loaders(base);

	for (size_t i = 0; i < base->n; i++) {
		const struct histo_row *row = &base->rows[i];

		histo_add(now, row->name, row->loader, row->module, -row->instances, -row->bytes);
		now->rows[now->n - 1].classes = -row->classes;
	}
	if (!by_loader)
		clear_loaders(now);
	merge_equal(now);
	filter_rows(now, has_changed, NULL);
}
