/* The command class: shows one class, its constant pool, or its bytecode. */
#include <string.h>

#include "base/printable.h"
#include "cmd/class/class_index.h"
#include "cmd/skipped.h"
#include "render/class/class_record.h"
#include "render/class/javap_code.h"
#include "render/class/javap_pool.h"

struct class_opts {
	bool pool, code;
	const char *loader;
};

#define AT(member) offsetof(struct class_opts, member)

static const struct opt class_rows[] = {
	{ 'c', "constants", OPT_FLAG, AT(pool), NULL, "show its constants like javap -v", NULL },
	{ 'b', "bytecode", OPT_FLAG, AT(code), NULL, "show the bytecode like javap -c -p", NULL },
	{ 0, "loader", OPT_TEXT, AT(loader), "LOADER", "only classes of this loader", NULL },
	OPT_END,
};

struct showing {
	const struct ctx *ctx;
	struct class_index *index;
	struct json *classes; /* the JSON of the classes; NULL without --json */
	size_t n;             /* number of classes that were printed */
	struct ag_mem mem;    /* memory for parsed class files */
	/* classes of which -b or -c cannot show the code or constants; with --json, the rest */
	struct skipped arrays, unavailable;
	/* classes for which -b shows the code of the class file, not the code in memory */
	struct skipped from_file;
};

static int ask(struct session *s, uint32_t number, struct err *err)
{
	uint8_t payload[4];
	struct wire_writer w = wire_writer_init(payload, sizeof(payload));

	wire_put_u32(&w, number);
	return session_send(s, WIRE_CLASS, &w, err);
}

struct info_target {
	struct class_info *info;
	struct class_origins *origins;
};

static int take_frame(void *arg, uint16_t type, struct wire_reader *payload)
{
	const struct info_target *target = arg;

	return class_info_take(target->info, target->origins, type, payload);
}

/*
 * Writes to `text` why the details from the class file are missing, and returns the content of
 * `text`.  Returns NULL if no details are missing, or if the class is an array.
 */
static const char *why_not(const struct class_row *row, const struct class_capture *captured,
			   struct buf *text)
{
	_cleanup_buf_ struct buf unused = BUF_INIT;
	const char *why = class_index_why_no_file(row, captured, &unused);

	if (!why || captured->outcome == WIRE_CAPTURED_ARRAY)
		return NULL;
	buf_addf(text, "details from the class file: %s", why);
	return buf_str(text);
}

/*
 * Returns the constant pool of the class file; or if there is no file, the constant pool that the
 * agent has read from the JVM's memory; or NULL if there is neither.
 */
static const struct cf_pool *pool_of(const struct class_view *view)
{
	return view->file ? &view->file->pool : view->memory;
}

/* Remembers that the class is shown as in the class file; does nothing if `why` is NULL. */
static void note_from_file(struct showing *show, const struct class_view *view, const char *why)
{
	if (why)
		skipped_add(&show->from_file, why, view->row->name, NULL);
}

static struct json *class_json(struct showing *show, const struct class_view *view)
{
	const struct class_opts *opts = show->ctx->opts;
	struct record *record = class_record(view);
	struct json *json = record_json(record);
	const struct cf_pool *pool = pool_of(view);
	const char *why;

	if (opts->pool && pool)
		json_put(json, "constant_pool", javap_pool_json(pool));
	else if (opts->pool)
		json_put_null(json, "constant_pool");
	if (opts->code) {
		json_put(json, "code", javap_code_json(view->file, view->captured, &why));
		if (pool)
			note_from_file(show, view, why);
	}
	record_free(record);
	return json;
}

/*
 * Prints the class's name and loader if several classes are shown, because the output of -b and -c
 * does not contain them.
 */
static void print_heading(const struct showing *show, const struct class_view *view)
{
	_cleanup_buf_ struct buf text = BUF_INIT;
	const char *loader = class_origins_loader(view->origins, view->row->loader);

	if (show->index->classes.n == 1)
		return;
	printable_add(&text, view->row->name, strlen(view->row->name));
	buf_adds(&text, ", loaded by ");
	printable_add(&text, loader, strlen(loader));
	fprintf(show->ctx->out, "%s:\n", buf_str(&text));
}

static void print_record(const struct showing *show, const struct class_view *view)
{
	struct record *record = class_record(view);

	record_print(record, show->ctx->out);
	record_free(record);
}

static void print_parts(struct showing *show, const struct class_view *view)
{
	const struct class_opts *opts = show->ctx->opts;

	print_heading(show, view);
	if (opts->pool)
		javap_pool(show->ctx->out, pool_of(view));
	if (opts->code)
		note_from_file(show, view,
			       javap_code(show->ctx->out, view->file, view->captured));
}

static void skip_class(struct showing *show, const struct class_view *view)
{
	_cleanup_buf_ struct buf text = BUF_INIT;
	const char *why = class_index_why_no_file(view->row, view->captured, &text);

	skipped_add(class_is_array(view->row) ? &show->arrays : &show->unavailable,
		    why ? why : view->why_not, view->row->name, NULL);
}

static void show_view(struct showing *show, const struct class_view *view)
{
	const struct class_opts *opts = show->ctx->opts;
	bool parts = opts->pool || opts->code;

	if (parts && !pool_of(view))
		skip_class(show, view);
	if (show->classes) {
		json_put(show->classes, NULL, class_json(show, view));
		return;
	}
	if (parts && !pool_of(view))
		return;
	if (show->n++ > 0)
		fputc('\n', show->ctx->out);
	if (parts)
		print_parts(show, view);
	else
		print_record(show, view);
}

/*
 * Adds to the view the parsed class file, and the constant pool from the JVM's memory.  Then prints
 * the view.
 */
static void show_captured(struct showing *show, struct class_view view)
{
	const struct class_capture *c = view.captured;
	size_t pool_len = c->pool.len;
	struct cf_class file;
	struct cf_pool memory;

	if (c->outcome == WIRE_CAPTURED_FILE) {
		view.why_not = cf_open(&file, c->file.data, c->file.len, &show->mem);
		view.file = view.why_not ? NULL : &file;
	}
	if (c->memory && !cf_pool_open(&memory, c->pool.data, &pool_len, c->pool_count, &show->mem))
		view.memory = &memory;
	show_view(show, &view);
	if (view.file)
		cf_release(&file);
	if (view.memory)
		cf_pool_release(&memory);
}

static int take(const struct class_row *row, struct class_capture *captured, void *arg,
		struct err *err)
{
	struct showing *show = arg;
	_cleanup_buf_ struct buf text = BUF_INIT;
	struct class_info info = { 0 };
	struct info_target target = { &info, &show->index->classes.origins };
	struct class_view view = {
		.row = row,
		.origins = &show->index->classes.origins,
		.info = &info,
		.captured = captured,
		.why_not = why_not(row, captured, &text),
	};
	int rc;

	rc = ask(show->index->session, row->number, err);
	if (rc == 0)
		rc = session_answer(show->index->session, take_frame, &target, err);
	if (rc == 0)
		show_captured(show, view);
	class_info_release(&info);
	return rc;
}

static void print_json(struct showing *show)
{
	struct json *doc = json_object();

	json_put_number(doc, "pid", show->ctx->jvm->pid);
	json_put(doc, "classes", TAKE_PTR(show->classes));
	json_print_take(doc, show->ctx->out);
}

/* Reports the classes that could not be shown.  Call it after all other classes were shown. */
static int conclude(struct showing *show, struct err *err)
{
	const struct class_opts *opts = show->ctx->opts;
	const char *parts = opts->code ? "bytecode" : "constants";
	const struct classes *c = &show->index->classes;
	const struct skipped *left_out = show->unavailable.n ? &show->unavailable : &show->arrays;
	size_t n_less = show->unavailable.n_items + show->from_file.n_items;

	if (show->classes)
		print_json(show);
	if (left_out->n_items == 1 && c->n == 1)
		return err_set(err, EXIT_ANSWER, "%.300s has no %s to show: %s",
			       c->rows[0].name, parts, left_out->list[0].why);
	skipped_print(show->ctx, &show->arrays);
	skipped_print(show->ctx, &show->unavailable);
	skipped_print(show->ctx, &show->from_file);
	if (show->arrays.n_items + show->unavailable.n_items == c->n)
		return err_set(err, EXIT_ANSWER,
			       "none of the %zu classes has %s to show, for the reasons above",
			       c->n, parts);
	if (n_less > 0)
		return err_set(err, EXIT_PARTIAL,
			       "cannot show the running code of %zu of %zu classes, for the "
			       "reasons above", n_less, c->n);
	return 0;
}

static int show_classes(const struct ctx *ctx, struct class_index *r, struct err *err)
{
	const struct class_opts *opts = ctx->opts;
	struct showing show = {
		.ctx = ctx,
		.index = r,
		.classes = ctx->json ? json_array() : NULL,
		.mem.budget = SIZE_MAX,
		.from_file.what = "shown as in the class file, not as in memory",
	};
	uint32_t flags = opts->pool || opts->code ? WIRE_CAPTURE_MEMORY : 0;
	int rc = class_index_capture(r, r->classes.rows, r->classes.n, flags, take, &show, err);

	if (rc == 0)
		rc = conclude(&show, err);
	json_free(show.classes);
	skipped_release(&show.arrays);
	skipped_release(&show.unavailable);
	skipped_release(&show.from_file);
	return rc;
}

static int run(struct ctx *ctx, struct err *err)
{
	const struct class_opts *opts = ctx->opts;
	struct class_index r;
	int rc;

	if (class_index_open(ctx, WIRE_CLASSES_SOURCES, &r, err) < 0)
		return -1;
	rc = class_index_select_args(ctx, &r, opts->loader, err);
	if (rc == 0)
		rc = show_classes(ctx, &r, err);
	return class_index_close(&r, err) < 0 ? -1 : rc;
}

const struct cmd cmd_class = {
	.name = "class",
	.aliases = "sm",
	.synopsis = "[TARGET] CLASS|GLOB",
	.summary = "show one class in full: ancestors, fields, methods, bytecode",
	.examples = (const struct example[]){
		{ "class 4711 com.acme.Cart", "fields, methods, loader and source" },
		{ "class 4711 com.acme.Cart -b", "its bytecode" },
		{ NULL, NULL },
	},
	.details =
		"Shows each class of that name, with its loader.  LOADER is a loader as shown,\n"
		"its class with or without the package, its name, or its @HASH.\n",
	.need = NEED_JVM,
	.only_looks = true,
	.parses = true,
	.takes_all = true,
	.min_args = 1,
	.max_args = 1,
	.free_words = -1,
	.opts = class_rows,
	.opts_size = sizeof(struct class_opts),
	.run = run,
};
