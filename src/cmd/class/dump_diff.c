/*
 * dump --diff: lists the methods whose code in the JVM differs from the code in a given class file.
 *
 * Compares only whether the code has the same effect.  The other parts of a class file always
 * differ from those of the loaded class, because the JVM reorders methods, renumbers constants and
 * drops attributes when it reads the file (see jtool(1), dump).
 */
#include "cmd/class/dump_diff.h"

#include <string.h>

#include "base/xalloc.h"
#include "cmd/attach_call.h"
#include "cmd/skipped.h"
#include "model/class/class_set.h"
#include "model/class/code_diff.h"
#include "render/table.h"

enum { COLUMN_CLASS, COLUMN_LOADER, COLUMN_METHOD, COLUMN_CHANGE };

/* The column LOADER is shown only if several of the compared classes have the same name. */
static const struct column columns[] = {
	[COLUMN_CLASS] = { "CLASS", "class", CELL_TEXT, false },
	[COLUMN_LOADER] = { "LOADER", "loader", CELL_TEXT, true },
	[COLUMN_METHOD] = { "METHOD", "method", CELL_TEXT, false },
	[COLUMN_CHANGE] = { "CHANGE", "change", CELL_TEXT, false },
};

struct diffing {
	const struct ctx *ctx;
	const struct class_origins *origins;
	const struct class_set *set;
	struct table *table;
	size_t n_compared, n_differ;
	struct skipped missing, failed;
};

static int compare_names(const void *key, const void *row)
{
	return strcmp(key, ((const struct class_row *)row)->name);
}

/* Returns whether `classes`, whose rows are sorted by name, has a class with this name. */
static bool is_selected(const char *name, const void *classes)
{
	const struct classes *c = classes;

	return bsearch(name, c->rows, c->n, sizeof(*c->rows), compare_names) != NULL;
}

static const char *loader_of(const struct diffing *d, const struct class_row *row)
{
	return class_origins_loader(d->origins, row->loader);
}

static void add_rows(struct diffing *d, const struct class_row *row, const struct code_diff *diff)
{
	for (size_t i = 0; i < diff->n; i++) {
		table_row(d->table);
		table_text(d->table, COLUMN_CLASS, row->name);
		table_text(d->table, COLUMN_LOADER, loader_of(d, row));
		table_text(d->table, COLUMN_METHOD, diff->rows[i].method);
		table_text(d->table, COLUMN_CHANGE, code_diff_word(diff->rows[i].kind));
	}
	d->n_compared++;
	d->n_differ += diff->n > 0;
}

static const char *compare(const struct class_capture *running, const struct class_file *file,
			   struct code_diff *diff)
{
	struct ag_mem mem = { .budget = SIZE_MAX };
	struct cf_class class;
	const char *why;

	if (running->outcome != WIRE_CAPTURED_FILE && !running->memory)
		return "the JVM does not give out its code";
	why = cf_open(&class, file->bytes.data, file->bytes.len, &mem);
	if (why)
		return why;
	why = code_diff_compare(diff, running, &class);
	cf_release(&class);
	return why;
}

static int take(const struct class_row *row, struct class_capture *captured, void *arg,
		struct err *err)
{
	struct diffing *d = arg;
	struct code_diff diff = { 0 };
	const char *why;

	(void)err;
	why = compare(captured, class_set_find(d->set, row->name), &diff);
	if (why)
		skipped_add(&d->failed, why, row->name, loader_of(d, row));
	else
		add_rows(d, row, &diff);
	code_diff_release(&diff);
	return 0;
}

/*
 * Returns whether the files that the user gave should include a class file of this class.  Arrays
 * and hidden classes have no class file.
 */
static bool is_file_expected(const struct class_row *row)
{
	return !(row->traits & WIRE_CLASS_ARRAY) && !strchr(row->name, '/');
}

/*
 * Moves the classes that have a file in `set` to the front of `c`.  Returns their number.  Does not
 * change the order of the classes with a file, nor the order of the classes without.
 */
static size_t partition(struct classes *c, const struct class_set *set)
{
	struct class_row *rest = xcalloc(c->n, sizeof(*rest));
	size_t n = 0, n_rest = 0;

	for (size_t i = 0; i < c->n; i++) {
		if (class_set_find(set, c->rows[i].name))
			c->rows[n++] = c->rows[i];
		else
			rest[n_rest++] = c->rows[i];
	}
	memcpy(c->rows + n, rest, n_rest * sizeof(*rest));
	free(rest);
	return n;
}

static void note_missing(struct diffing *d, const struct class_row *rows, size_t n,
			 const char *path)
{
	_cleanup_free_ char *why = xasprintf("%s has no class file of that name", path);

	for (size_t i = 0; i < n; i++) {
		if (is_file_expected(&rows[i]))
			skipped_add(&d->missing, why, rows[i].name, loader_of(d, &rows[i]));
	}
}

static bool has_namesakes(const struct class_row *rows, size_t n)
{
	for (size_t i = 1; i < n; i++) {
		if (strcmp(rows[i].name, rows[i - 1].name) == 0)
			return true;
	}
	return false;
}

static void show(const struct ctx *ctx, const struct diffing *d, const char *path)
{
	struct json *doc;

	if (!ctx->json) {
		if (d->n_differ > 0)
			table_print(d->table, ctx->out);
		fprintf(ctx->out, "%zu of %zu classes run other code than in %s\n", d->n_differ,
			d->n_compared, path);
		return;
	}
	doc = json_object();
	json_put_number(doc, "pid", ctx->jvm->pid);
	json_put_unsigned(doc, "compared", d->n_compared);
	json_put(doc, "differences", table_json(d->table));
	json_put(doc, "missing", skipped_json(&d->missing));
	json_put(doc, "skipped", skipped_json(&d->failed));
	json_print_take(doc, ctx->out);
}

static int compare_all(const struct ctx *ctx, struct class_index *index, const char *path,
		       struct diffing *d, struct err *err)
{
	struct classes *c = &index->classes;
	size_t n = partition(c, d->set);

	if (n == 0 && c->n == 1)
		return err_set(err, EXIT_USAGE, "'%s' contains no class file of %s", path,
			       c->rows[0].name);
	if (n == 0)
		return err_set(err, EXIT_USAGE,
			       "'%s' contains no class file of any of the %zu selected classes",
			       path, c->n);
	if (has_namesakes(c->rows, n) &&
	    table_select(d->table, "class,loader,method,change", err) < 0)
		return -1;
	if (class_index_capture(index, c->rows, n, WIRE_CAPTURE_MEMORY, take, d, err) < 0)
		return -1;
	note_missing(d, c->rows + n, c->n - n, path);
	show(ctx, d, path);
	skipped_print(ctx, &d->missing);
	skipped_print(ctx, &d->failed);
	if (d->failed.n_items > 0)
		return err_set(err, EXIT_PARTIAL,
			       "cannot compare %zu of %zu classes, for the reasons above",
			       d->failed.n_items, n);
	return 0;
}

int dump_diff(const struct ctx *ctx, struct class_index *index, const char *path, struct err *err)
{
	struct class_set set = { .wants = is_selected, .arg = &index->classes };
	struct diffing d = {
		.ctx = ctx,
		.origins = &index->classes.origins,
		.set = &set,
		.table = table_new(columns, ARRAY_SIZE(columns)),
		.missing.what = "not compared",
		.failed.what = "not compared",
	};
	int rc = class_set_add(&set, path, attach_call_release(ctx), err);

	if (rc == 0)
		rc = compare_all(ctx, index, path, &d, err);
	skipped_release(&d.missing);
	skipped_release(&d.failed);
	table_free(d.table);
	class_set_release(&set);
	return rc;
}
