/*
 * class: one class in full, its constant pool, its bytecode.
 */
#include <string.h>

#include "base/text.h"
#include "cmd/remarks.h"
#include "cmd/roster.h"
#include "render/class_sheet.h"
#include "render/javap_code.h"
#include "render/javap_pool.h"

struct class_opts {
	bool pool, code;
	const char *loader;
};

#define AT(member) offsetof(struct class_opts, member)

static const struct opt class_rows[] = {
	{ 'c', "constants", OPT_FLAG, AT(pool), NULL, "its constant pool, as javap -v does", NULL },
	{ 'b', "bytecode", OPT_FLAG, AT(code), NULL, "its bytecode, as javap -c -p does", NULL },
	{ 0, "loader", OPT_TEXT, AT(loader), "LOADER", "only classes of this loader", NULL },
	OPT_END,
};

struct showing {
	const struct ctx *ctx;
	struct roster *roster;
	struct json *classes; /* with --json */
	size_t n;             /* classes printed so far */
	struct ag_mem mem;    /* for class files that are looked at */
	/* with -b and -c: what has none, what cannot be had, whose code is not what runs */
	struct remarks without, untold, of_file;
};

static int ask(struct session *s, uint32_t number, struct err *err)
{
	uint8_t payload[4];
	struct wire_writer w = wire_writer_init(payload, sizeof(payload));

	wire_put_u32(&w, number);
	return session_send(s, WIRE_CLASS, &w, err);
}

struct telling {
	struct class_told *told;
	struct places *places;
};

static int take_frame(void *arg, uint16_t type, struct wire_reader *payload)
{
	const struct telling *telling = arg;

	return class_told_take(telling->told, telling->places, type, payload);
}

/* What is not told of a class without its file, and why; NULL: that goes without saying. */
static const char *why_not(const struct class_row *row, const struct captured *captured,
			   struct buf *text)
{
	_cleanup_buf_ struct buf unused = BUF_INIT;
	const char *why = roster_why_no_file(row, captured, &unused);

	if (!why || captured->outcome == WIRE_CAPTURED_ARRAY)
		return NULL;
	buf_addf(text, "what only a class file says: %s", why);
	return buf_str(text);
}

/* The constants that are shown, or NULL. */
static const struct cf_pool *pool_of(const struct class_view *view)
{
	return view->file ? &view->file->pool : view->memory;
}

static struct json *class_json(const struct class_view *view, const struct class_opts *opts)
{
	struct sheet *sheet = class_sheet(view);
	struct json *json = sheet_json(sheet);
	const struct cf_pool *pool = pool_of(view);

	if (opts->pool && pool)
		json_put(json, "constant_pool", javap_pool_json(pool));
	else if (opts->pool)
		json_put_null(json, "constant_pool");
	if (opts->code)
		json_put(json, "code", javap_code_json(view->file, view->captured));
	sheet_free(sheet);
	return json;
}

/* Which class it is, where several are shown without saying their names. */
static void print_heading(const struct showing *show, const struct class_view *view)
{
	_cleanup_buf_ struct buf text = BUF_INIT;
	const char *loader = places_loader(view->places, view->row->loader);

	if (show->roster->classes.n == 1)
		return;
	text_printable(&text, view->row->name, strlen(view->row->name));
	buf_adds(&text, ", loaded by ");
	text_printable(&text, loader, strlen(loader));
	fprintf(show->ctx->out, "%s:\n", buf_str(&text));
}

static void print_sheet(const struct showing *show, const struct class_view *view)
{
	struct sheet *sheet = class_sheet(view);

	sheet_print(sheet, show->ctx->out);
	sheet_free(sheet);
}

static void print_parts(struct showing *show, const struct class_view *view)
{
	const struct class_opts *opts = show->ctx->opts;
	const char *why;

	print_heading(show, view);
	if (opts->pool)
		javap_pool(show->ctx->out, pool_of(view));
	if (!opts->code)
		return;
	why = javap_code(show->ctx->out, view->file, view->captured);
	if (why)
		remarks_add(&show->of_file, why, view->row);
}

/* Nothing is lost of an array, which has neither constants nor code. */
static void leave_out(struct showing *show, const struct class_view *view)
{
	_cleanup_buf_ struct buf text = BUF_INIT;
	const char *why = roster_why_no_file(view->row, view->captured, &text);

	remarks_add(class_is_array(view->row) ? &show->without : &show->untold,
		    why ? why : view->why_not, view->row);
}

static void show_view(struct showing *show, const struct class_view *view)
{
	const struct class_opts *opts = show->ctx->opts;
	bool parts = opts->pool || opts->code;

	if (show->classes) {
		json_put(show->classes, NULL, class_json(view, opts));
		return;
	}
	if (parts && !pool_of(view)) {
		leave_out(show, view);
		return;
	}
	if (show->n++ > 0)
		fputc('\n', show->ctx->out);
	if (parts)
		print_parts(show, view);
	else
		print_sheet(show, view);
}

/* With what can be read of the class file and of the constants in memory. */
static void show_captured(struct showing *show, struct class_view view)
{
	const struct captured *c = view.captured;
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

static int take(const struct class_row *row, struct captured *captured, void *arg,
		struct err *err)
{
	struct showing *show = arg;
	_cleanup_buf_ struct buf text = BUF_INIT;
	struct class_told told = { 0 };
	struct telling telling = { &told, &show->roster->classes.places };
	struct class_view view = {
		.row = row,
		.places = &show->roster->classes.places,
		.told = &told,
		.captured = captured,
		.why_not = why_not(row, captured, &text),
	};
	int rc;

	rc = ask(show->roster->session, row->number, err);
	if (rc == 0)
		rc = session_answer(show->roster->session, take_frame, &telling, err);
	if (rc == 0)
		show_captured(show, view);
	class_told_release(&told);
	return rc;
}

static void print_json(struct showing *show)
{
	struct json *doc = json_object();

	json_put_number(doc, "pid", show->ctx->jvm->pid);
	json_put(doc, "classes", TAKE_PTR(show->classes));
	json_print_take(doc, show->ctx->out);
}

/* What could not be shown, after the rest was. */
static int conclude(struct showing *show, struct err *err)
{
	const struct class_opts *opts = show->ctx->opts;
	const char *parts = opts->code ? "bytecode" : "constants";
	const struct classes *c = &show->roster->classes;
	const struct remarks *left_out = show->untold.n ? &show->untold : &show->without;
	size_t n_less = show->untold.n_rows + show->of_file.n_rows;

	if (show->classes)
		print_json(show);
	if (left_out->n_rows == 1 && c->n == 1)
		return err_set(err, EXIT_ANSWER, "%.300s has no %s that the JVM tells: %s",
			       c->rows[0].name, parts, left_out->list[0].why);
	remarks_tell(show->ctx, &show->without);
	remarks_tell(show->ctx, &show->untold);
	remarks_tell(show->ctx, &show->of_file);
	if (show->without.n_rows + show->untold.n_rows == c->n)
		return err_set(err, EXIT_ANSWER, "none of %zu classes has %s that the JVM tells",
			       c->n, parts);
	if (n_less > 0)
		return err_set(err, EXIT_PARTIAL,
			       "%zu of %zu classes could not be shown as they run", n_less, c->n);
	return 0;
}

static int show_classes(const struct ctx *ctx, struct roster *r, struct err *err)
{
	const struct class_opts *opts = ctx->opts;
	struct showing show = {
		.ctx = ctx,
		.roster = r,
		.classes = ctx->json ? json_array() : NULL,
		.mem.budget = SIZE_MAX,
		.without.what = "left out",
		.untold.what = "left out",
		.of_file.what = "shown as in the class file, for in memory",
	};
	uint32_t flags = opts->pool || opts->code ? WIRE_CAPTURE_MEMORY : 0;
	int rc = roster_capture(r, r->classes.rows, r->classes.n, flags, take, &show, err);

	if (rc == 0)
		rc = conclude(&show, err);
	json_free(show.classes);
	remarks_release(&show.without);
	remarks_release(&show.untold);
	remarks_release(&show.of_file);
	return rc;
}

static int run(struct ctx *ctx, struct err *err)
{
	const struct class_opts *opts = ctx->opts;
	struct roster r;
	int rc;

	if (roster_open(ctx, WIRE_CLASSES_SOURCES, &r, err) < 0)
		return -1;
	rc = roster_select(ctx, &r, ctx->args, 1, opts->loader, err);
	if (rc == 0)
		rc = show_classes(ctx, &r, err);
	return roster_close(&r, err) < 0 ? -1 : rc;
}

const struct cmd cmd_class = {
	.name = "class",
	.aliases = "sm",
	.synopsis = "TARGET CLASS|GLOB",
	.summary = "one class in full: ancestors, fields, methods; its code",
	.details =
		"All classes of that name are shown, each with its loader; in a GLOB, * stands\n"
		"for any characters and ? for one.  LOADER is a loader as it is shown, its class\n"
		"with or without the package, its name, or its @HASH.\n",
	.need = NEED_JVM,
	.takes_all = true,
	.min_args = 1,
	.max_args = 1,
	.free_words = -1,
	.opts = class_rows,
	.opts_size = sizeof(struct class_opts),
	.run = run,
};
