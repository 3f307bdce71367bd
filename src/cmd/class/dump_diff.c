/*
 * dump --diff: method by method, where the code that the JVM runs is not the code of the class
 * file that it is thought to have come from.
 *
 * Only code is compared, by what it does.  What else is in a class file is not what it was once
 * the JVM has read it: methods are in another order, constants have other numbers, attributes
 * are gone (see the manual, dump); to tell of that would be alarm about nothing.
 */
#include "cmd/dump.h"

#include <string.h>

#include "base/xalloc.h"
#include "cmd/remarks.h"
#include "model/classset.h"
#include "model/codediff.h"
#include "render/table.h"

enum { COLUMN_CLASS, COLUMN_LOADER, COLUMN_METHOD, COLUMN_CHANGE };

/* The loader is shown where a class's name alone would not tell which is meant. */
static const struct column columns[] = {
	[COLUMN_CLASS] = { "CLASS", "class", COL_TEXT, false, NULL },
	[COLUMN_LOADER] = { "LOADER", "loader", COL_TEXT, true, NULL },
	[COLUMN_METHOD] = { "METHOD", "method", COL_TEXT, false, NULL },
	[COLUMN_CHANGE] = { "CHANGE", "change", COL_TEXT, false, NULL },
};

struct diffing {
	const struct ctx *ctx;
	const struct places *places;
	const struct classset *set;
	struct table *table;
	size_t n_compared, n_differ;
	struct remarks missing, failed;
};

static int compare_names(const void *key, const void *row)
{
	return strcmp(key, ((const struct class_row *)row)->name);
}

/* The rows are sorted by name. */
static bool is_selected(const char *name, const void *classes)
{
	const struct classes *c = classes;

	return bsearch(name, c->rows, c->n, sizeof(*c->rows), compare_names) != NULL;
}

static void add_rows(struct diffing *d, const struct class_row *row, const struct codediff *diff)
{
	for (size_t i = 0; i < diff->n; i++) {
		table_row(d->table);
		table_text(d->table, COLUMN_CLASS, row->name);
		table_text(d->table, COLUMN_LOADER, places_loader(d->places, row->loader));
		table_text(d->table, COLUMN_METHOD, diff->rows[i].method);
		table_text(d->table, COLUMN_CHANGE, codediff_word(diff->rows[i].kind));
	}
	d->n_compared++;
	d->n_differ += diff->n > 0;
}

static const char *compare(const struct captured *running, const struct class_file *file,
			   struct codediff *diff)
{
	struct ag_mem mem = { .budget = SIZE_MAX };
	struct cf_class class;
	const char *why;

	if (running->outcome != WIRE_CAPTURED_FILE && !running->memory)
		return "the JVM does not tell its code";
	why = cf_open(&class, file->bytes.data, file->bytes.len, &mem);
	if (why)
		return why;
	why = codediff_compare(diff, running, &class);
	cf_release(&class);
	return why;
}

static int take(const struct class_row *row, struct captured *captured, void *arg, struct err *err)
{
	struct diffing *d = arg;
	struct codediff diff = { 0 };
	const char *why;

	(void)err;
	why = compare(captured, classset_find(d->set, row->name), &diff);
	if (why)
		remarks_add(&d->failed, why, row);
	else
		add_rows(d, row, &diff);
	codediff_release(&diff);
	return 0;
}

/* Arrays and hidden classes are in no file: those are not missed. */
static bool can_have_file(const struct class_row *row)
{
	return !(row->traits & WIRE_CLASS_ARRAY) && !strchr(row->name, '/');
}

/*
 * Those that there is a file of come first, in their order; returns how many.  The rows only
 * change places: all of them stay the roster's.
 */
static size_t divide(struct classes *c, const struct classset *set)
{
	struct class_row *rest = xcalloc(c->n, sizeof(*rest));
	size_t n = 0, n_rest = 0;

	for (size_t i = 0; i < c->n; i++) {
		if (classset_find(set, c->rows[i].name))
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
		if (can_have_file(&rows[i]))
			remarks_add(&d->missing, why, &rows[i]);
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
	json_put(doc, "missing", remarks_json(&d->missing, d->places));
	json_put(doc, "skipped", remarks_json(&d->failed, d->places));
	json_print_take(doc, ctx->out);
}

static int compare_all(const struct ctx *ctx, struct roster *roster, const char *path,
		       struct diffing *d, struct err *err)
{
	struct classes *c = &roster->classes;
	size_t n = divide(c, d->set);

	if (n == 0)
		return err_set(err, EXIT_USAGE, "%s has no class file of %s%s", path,
			       c->rows[0].name, c->n > 1 ? ", ..." : "");
	if (has_namesakes(c->rows, n) &&
	    table_select(d->table, "class,loader,method,change", err) < 0)
		return -1;
	if (roster_capture(roster, c->rows, n, WIRE_CAPTURE_MEMORY, take, d, err) < 0)
		return -1;
	note_missing(d, c->rows + n, c->n - n, path);
	show(ctx, d, path);
	remarks_tell(ctx, &d->missing);
	remarks_tell(ctx, &d->failed);
	if (d->failed.n_rows > 0)
		return err_set(err, EXIT_PARTIAL, "%zu of %zu classes could not be compared",
			       d->failed.n_rows, n);
	return 0;
}

int dump_diff(const struct ctx *ctx, struct roster *roster, const char *path, struct err *err)
{
	struct classset set = { .wants = is_selected, .arg = &roster->classes };
	struct diffing d = {
		.ctx = ctx,
		.places = &roster->classes.places,
		.set = &set,
		.table = table_new(columns, ARRAY_SIZE(columns)),
		.missing.what = "not compared",
		.failed.what = "not compared",
	};
	int rc = classset_add(&set, path, (unsigned)jvm_feature(ctx->jvm), err);

	if (rc == 0)
		rc = compare_all(ctx, roster, path, &d, err);
	remarks_release(&d.missing);
	remarks_release(&d.failed);
	table_free(d.table);
	classset_release(&set);
	return rc;
}
