/*
 * class: one class in full, its constant pool, its bytecode.
 */
#include <string.h>

#include "base/text.h"
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
	{ 0, "loader", OPT_TEXT, AT(loader), "LOADER", "what this loader defined", NULL },
	OPT_END,
};

struct showing {
	const struct ctx *ctx;
	struct roster *roster;
	struct json *classes; /* with --json */
	size_t n;             /* classes shown so far */
	struct ag_mem mem;    /* for class files that are looked at */
};

static int ask(struct session *s, uint32_t number, struct err *err)
{
	uint8_t payload[4];
	struct wire_writer w = wire_writer_init(payload, sizeof(payload));

	wire_put_u32(&w, number);
	return session_send(s, WIRE_CLASS, &w, err);
}

static int receive(struct roster *r, struct class_told *told, struct err *err)
{
	struct session_frame frame;
	int rc;

	do {
		if (session_receive(r->session, &frame, 0, err) < 0)
			return -1;
		rc = class_told_take(told, &r->classes.places, frame.type, &frame.payload);
		if (rc < 0)
			return session_bad_frame(&frame, err);
	} while (rc == 0);
	return 0;
}

/* What is not told of a class without its file, and why; NULL: that goes without saying. */
static const char *why_not(const struct captured *captured, struct buf *text)
{
	switch (captured->outcome) {
	case WIRE_CAPTURED_HIDDEN:
		return "what only a class file says: the JVM hands out none of a class that "
		       "nobody may change";
	case WIRE_CAPTURED_ANONYMOUS:
		return "what only a class file says: asking for that of a VM-anonymous class "
		       "ends a JVM of JDK 8";
	case WIRE_CAPTURED_ERROR:
		buf_addf(text, "what only a class file says: the JVM refuses with JVMTI error %d",
			 (int)captured->code);
		return buf_str(text);
	default:
		return NULL;
	}
}

static struct json *class_json(const struct class_view *view, const struct class_opts *opts)
{
	struct sheet *sheet = class_sheet(view);
	struct json *json = sheet_json(sheet);
	const struct cf_pool *pool = view->file ? &view->file->pool : view->memory;

	if (opts->pool && pool)
		json_put(json, "constant_pool", javap_pool_json(pool));
	if (opts->code)
		json_put(json, "code", javap_code_json(view->file, view->captured));
	sheet_free(sheet);
	return json;
}

static int print_code(const struct ctx *ctx, const struct class_view *view, struct err *err)
{
	const char *why;

	if (!view->file && !view->memory)
		return err_set(err, EXIT_ANSWER, "%.300s has no bytecode that the JVM tells",
			       view->row->name);
	why = javap_code(ctx->out, view->file, view->captured);
	if (why)
		return err_set(err, EXIT_PARTIAL,
			       "the code is the class file's, for in the JVM's memory %s", why);
	return 0;
}

static int print_pool(const struct ctx *ctx, const struct class_view *view, struct err *err)
{
	const struct cf_pool *pool = view->file ? &view->file->pool : view->memory;

	if (!pool)
		return err_set(err, EXIT_ANSWER, "%.300s has no constants that the JVM tells",
			       view->row->name);
	javap_pool(ctx->out, pool);
	return 0;
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

static int print_class(struct showing *show, const struct class_view *view, struct err *err)
{
	const struct class_opts *opts = show->ctx->opts;
	struct sheet *sheet;

	if (show->n++ > 0)
		fputc('\n', show->ctx->out);
	if (!opts->pool && !opts->code) {
		sheet = class_sheet(view);
		sheet_print(sheet, show->ctx->out);
		sheet_free(sheet);
		return 0;
	}
	print_heading(show, view);
	if (opts->pool && print_pool(show->ctx, view, err) < 0)
		return -1;
	return opts->code ? print_code(show->ctx, view, err) : 0;
}

static int show_view(struct showing *show, const struct class_view *view, struct err *err)
{
	if (!show->classes)
		return print_class(show, view, err);
	json_put(show->classes, NULL, class_json(view, show->ctx->opts));
	return 0;
}

/* With what can be read of the class file and of the constants in memory. */
static int show_captured(struct showing *show, struct class_view *view, struct err *err)
{
	const struct captured *c = view->captured;
	size_t pool_len = c->pool.len;
	struct cf_class file;
	struct cf_pool memory;
	int rc;

	if (c->outcome == WIRE_CAPTURED_FILE) {
		view->why_not = cf_open(&file, c->file.data, c->file.len, &show->mem);
		view->file = view->why_not ? NULL : &file;
	}
	if (c->memory && !cf_pool_open(&memory, c->pool.data, &pool_len, c->pool_count, &show->mem))
		view->memory = &memory;
	rc = show_view(show, view, err);
	if (view->file)
		cf_release(&file);
	if (view->memory)
		cf_pool_release(&memory);
	return rc;
}

static int take(const struct class_row *row, struct captured *captured, void *arg,
		struct err *err)
{
	struct showing *show = arg;
	_cleanup_buf_ struct buf text = BUF_INIT;
	struct class_told told = { 0 };
	struct class_view view = {
		.row = row,
		.places = &show->roster->classes.places,
		.told = &told,
		.captured = captured,
		.why_not = why_not(captured, &text),
	};
	int rc;

	rc = ask(show->roster->session, row->number, err);
	if (rc == 0)
		rc = receive(show->roster, &told, err);
	if (rc == 0)
		rc = show_captured(show, &view, err);
	class_told_release(&told);
	return rc;
}

static int show_classes(const struct ctx *ctx, struct roster *r, struct err *err)
{
	const struct class_opts *opts = ctx->opts;
	struct showing show = { .ctx = ctx, .roster = r, .mem = { .budget = SIZE_MAX } };
	uint32_t flags = opts->pool || opts->code ? WIRE_CAPTURE_MEMORY : 0;
	struct json *doc;
	int rc;

	if (ctx->json)
		show.classes = json_array();
	rc = roster_capture(r, r->classes.rows, r->classes.n, flags, take, &show, err);
	if (!ctx->json)
		return rc;
	doc = json_object();
	json_put_number(doc, "pid", ctx->jvm->pid);
	json_put(doc, "classes", show.classes);
	if (rc == 0)
		json_print(doc, ctx->out);
	json_free(doc);
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
		"All classes of that name are shown, each with its loader.  LOADER is a loader\n"
		"as it is shown, its class with or without the package, its name, or its @HASH.\n",
	.need = NEED_JVM,
	.takes_all = true,
	.min_args = 1,
	.max_args = 1,
	.free_words = -1,
	.opts = class_rows,
	.opts_size = sizeof(struct class_opts),
	.run = run,
};
