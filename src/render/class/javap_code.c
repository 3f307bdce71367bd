#include "render/class/javap_code.h"

#include <inttypes.h>

#include "model/class/class_attributes.h"
#include "model/class/effective_code.h"
#include "render/class/javap_insn.h"
#include "render/class/javap_line.h"
#include "render/class/javap_pool.h"

/* Returns the name of the class; or an empty text if there is no class file. */
static struct cf_text own_name(const struct effective_code *r)
{
	return r->class ? cf_name(r->class) : (struct cf_text){ NULL, 0 };
}

/*
 * Appends the declaration of a method.  In an interface, the declaration may have the modifier
 * "default" only from class file version 52 on (JVMS 4.6).
 */
static void add_declaration(struct buf *out, const struct effective_code *r,
			    const struct effective_method *m)
{
	javasig_method(out, &m->member, own_name(r),
		       r->class && (r->class->access & CF_ACC_INTERFACE) &&
			       r->class->major >= 52);
}

/*
 * Appends the type in an entry of an exception table: "any"; or "Class" and the name of the class,
 * because javap prints the word "Class" in this table, but nowhere else.
 */
static void add_catch_type(struct buf *out, const struct effective_method *m, uint16_t type)
{
	if (type == 0) {
		buf_adds(out, "any");
		return;
	}
	buf_adds(out, "Class ");
	javap_value(out, m->body.pool, type);
}

static void print_handlers(struct javap_lines *l, const struct effective_method *m)
{
	if (m->memory || m->file.n_handlers == 0)
		return;
	buf_adds(&l->line, "    Exception table:");
	javap_end_line(l);
	buf_adds(&l->line, "       from    to  target type");
	javap_end_line(l);
	for (uint16_t i = 0; i < m->file.n_handlers; i++) {
		struct cf_handler h = cf_handler(&m->file, i);

		buf_addf(&l->line, "       %5u %5u %5u   ", h.start, h.end, h.handler);
		add_catch_type(&l->line, m, h.type);
		javap_end_line(l);
	}
}

static void print_body(struct javap_lines *l, const struct effective_code *r,
		       const struct effective_method *m)
{
	const struct cf_body *b = &m->body;
	struct cf_insn insn;

	buf_adds(&l->line, "    Code:");
	if (m->memory)
		buf_addf(&l->line, " // in memory%s; JVMTI reports no exception table",
			 r->class ? ", differs from the class file" : "");
	javap_end_line(l);
	for (uint32_t pc = 0; pc < b->len; pc += insn.len) {
		if (!cf_insn(b->code, b->len, pc, &insn)) {
			buf_addf(&l->line, "    %4" PRIu32 ": ??? invalid instruction", pc);
			javap_end_line(l);
			break;
		}
		javap_insn(l, &insn, b->pool, own_name(r));
	}
	print_handlers(l, m);
}

static void print_methods(struct javap_lines *l, struct effective_code *r)
{
	struct effective_method m;

	for (bool first = true; effective_code_next(r, &m); first = false) {
		if (!first)
			javap_end_line(l);
		buf_adds(&l->line, "  ");
		add_declaration(&l->line, r, &m);
		buf_addc(&l->line, ';');
		javap_end_line(l);
		if (m.body.code)
			print_body(l, r, &m);
	}
}

static void print_fields(struct javap_lines *l, const struct cf_class *class)
{
	struct cf_members fields = cf_fields(class);
	struct javasig_member field;
	struct cf_member member;

	while (cf_next_member(&fields, &member)) {
		field = javasig_member(&member);
		buf_adds(&l->line, "  ");
		javasig_field(&l->line, &field);
		buf_addc(&l->line, ';');
		javap_end_line(l);
		javap_end_line(l);
	}
}

static void print_head(struct javap_lines *l, const struct cf_class *class)
{
	uint16_t source = class_attribute_index(cf_class_attributes(class), "SourceFile");

	if (source) {
		buf_adds(&l->line, "Compiled from \"");
		javasig_text(&l->line, cf_utf8(&class->pool, source));
		buf_addc(&l->line, '"');
		javap_end_line(l);
	}
	javasig_class(&l->line, class, false);
	buf_adds(&l->line, " {");
	javap_end_line(l);
}

const char *javap_code(FILE *out, const struct cf_class *class, const struct class_capture *memory)
{
	struct javap_lines l = { .out = out };
	struct effective_code r;
	const char *why = effective_code_open(&r, class, memory);

	if (class) {
		print_head(&l, class);
		print_fields(&l, class);
	}
	print_methods(&l, &r);
	if (class) {
		buf_addc(&l.line, '}');
		javap_end_line(&l);
	}
	javap_lines_release(&l);
	effective_code_release(&r);
	return why;
}

static void put_taken(struct json *row, const char *key, struct buf *text)
{
	json_put_text_len(row, key, buf_str(text), text->len);
	buf_reset(text);
}

static struct json *body_json(const struct effective_code *r, const struct cf_body *b)
{
	_cleanup_buf_ struct buf text = BUF_INIT;
	struct json *rows = json_array(), *row;
	struct cf_insn insn;

	for (uint32_t pc = 0; pc < b->len; pc += insn.len) {
		if (!cf_insn(b->code, b->len, pc, &insn))
			break;
		javap_insn_text(&text, &insn, b->pool, own_name(r));
		row = json_object();
		json_put_number(row, "pc", pc);
		put_taken(row, "text", &text);
		json_put(rows, NULL, row);
	}
	return rows;
}

static struct json *handlers_json(const struct effective_method *m)
{
	_cleanup_buf_ struct buf type = BUF_INIT;
	struct json *rows = json_array(), *row;

	for (uint16_t i = 0; i < m->file.n_handlers; i++) {
		struct cf_handler h = cf_handler(&m->file, i);

		row = json_object();
		json_put_number(row, "from", h.start);
		json_put_number(row, "to", h.end);
		json_put_number(row, "target", h.handler);
		if (h.type)
			javasig_class_name(&type, cf_class_name(m->body.pool, h.type));
		json_put_text(row, "type", h.type ? buf_str(&type) : NULL);
		buf_reset(&type);
		json_put(rows, NULL, row);
	}
	return rows;
}

static struct json *method_json(const struct effective_code *r, const struct effective_method *m)
{
	_cleanup_buf_ struct buf text = BUF_INIT;
	struct json *row = json_object();

	add_declaration(&text, r, m);
	put_taken(row, "method", &text);
	javasig_text(&text, m->member.name);
	put_taken(row, "name", &text);
	javasig_text(&text, m->member.descriptor);
	put_taken(row, "descriptor", &text);
	json_put_bool(row, "memory", m->memory);
	if (m->body.code)
		json_put(row, "code", body_json(r, &m->body));
	else
		json_put_null(row, "code");
	if (m->body.code && !m->memory)
		json_put(row, "exceptions", handlers_json(m));
	else
		json_put_null(row, "exceptions");
	return row;
}

struct json *javap_code_json(const struct cf_class *class, const struct class_capture *memory,
			     const char **why)
{
	struct json *rows = json_array();
	struct effective_method m;
	struct effective_code r;

	*why = effective_code_open(&r, class, memory);
	while (effective_code_next(&r, &m))
		json_put(rows, NULL, method_json(&r, &m));
	effective_code_release(&r);
	return rows;
}
