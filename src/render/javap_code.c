#include "render/javap_code.h"

#include <inttypes.h>
#include <string.h>

#include "classfile/code.h"
#include "classfile/same.h"
#include "model/javasig.h"
#include "render/javap_insn.h"
#include "render/javap_line.h"
#include "render/javap_pool.h"

/* A class on its way to the reader. */
struct view {
	const struct cf_class *class;   /* NULL: there is no class file */
	const struct captured *memory;  /* NULL: nothing is known of it */
	struct cf_pool pool;            /* of the memory; at is NULL when it is not known */
	struct ag_mem mem;
	struct cf_text name;
};

/* One method with the instructions that are to be shown of it. */
struct method {
	struct javasig_member member;
	struct cf_body body;  /* code NULL: it has none */
	struct cf_code file;  /* of the class file, for the exception table */
	bool memory;          /* the body is the memory's */
};

/* Through the methods: first the class file's, then those that only the memory has. */
struct walk {
	struct cf_members left;
	size_t next;
};

static struct cf_text text_of(const char *s)
{
	return (struct cf_text){ s, strlen(s) };
}

/* NULL, or why the memory cannot be shown. */
static const char *open_view(struct view *v, const struct cf_class *class,
			     const struct captured *memory)
{
	size_t len;

	*v = (struct view){ .class = class, .memory = memory, .mem = { .budget = SIZE_MAX } };
	if (class)
		v->name = cf_name(class);
	if (!memory || !memory->memory || memory->n_methods == 0)
		return NULL;
	len = memory->pool.len;
	return cf_pool_open(&v->pool, buf_str(&memory->pool), &len, memory->pool_count, &v->mem);
}

static void close_view(struct view *v)
{
	if (v->pool.at)
		cf_pool_release(&v->pool);
}

static struct cf_body body_in_memory(const struct view *v, const struct captured_method *m)
{
	return (struct cf_body){ &v->pool, (const uint8_t *)m->code.data,
				 (uint32_t)m->code.len };
}

static const struct captured_method *find_in_memory(const struct view *v,
						    const struct cf_member *m)
{
	for (size_t i = 0; v->pool.at && i < v->memory->n_methods; i++) {
		const struct captured_method *captured = &v->memory->methods[i];

		if (captured->code.len > 0 && cf_text_is(m->name, captured->name) &&
		    cf_text_is(m->descriptor, captured->descriptor))
			return captured;
	}
	return NULL;
}

static void choose_body(struct view *v, const struct cf_member *member, struct method *m)
{
	const struct captured_method *captured = find_in_memory(v, member);
	struct cf_body memory;

	if (cf_code(member, &m->file))
		m->body = (struct cf_body){ &v->class->pool, m->file.code, m->file.len };
	if (!captured)
		return;
	memory = body_in_memory(v, captured);
	if (m->body.code && cf_same_code(&m->body, &memory, &v->mem) == 1)
		return;
	m->body = memory;
	m->memory = true;
}

static struct walk walk_methods(const struct view *v)
{
	if (!v->class)
		return (struct walk){ .next = 0 };
	return (struct walk){ .left = cf_methods(v->class) };
}

static bool is_in_file(const struct view *v, const struct captured_method *m)
{
	struct cf_member member;

	return v->class && cf_find_member(cf_methods(v->class), text_of(m->name),
					  text_of(m->descriptor), &member);
}

static bool next_method(struct view *v, struct walk *walk, struct method *m)
{
	struct cf_member member;

	*m = (struct method){ .memory = false };
	if (cf_next_member(&walk->left, &member)) {
		m->member = javasig_member(&member);
		choose_body(v, &member, m);
		return true;
	}
	while (v->pool.at && walk->next < v->memory->n_methods) {
		const struct captured_method *captured = &v->memory->methods[walk->next++];

		if (is_in_file(v, captured))
			continue;
		m->member.access = captured->modifiers;
		m->member.name = text_of(captured->name);
		m->member.descriptor = text_of(captured->descriptor);
		m->body = body_in_memory(v, captured);
		m->memory = true;
		return true;
	}
	return false;
}

static void add_declaration(struct buf *out, const struct view *v, const struct method *m)
{
	javasig_method(out, &m->member, v->name,
		       v->class && (v->class->access & CF_ACC_INTERFACE) &&
			       v->class->major >= 52);
}

/* javap writes "Class" large here, and a constant's kind small behind instructions. */
static void add_catch_type(struct buf *out, const struct method *m, uint16_t type)
{
	if (type == 0) {
		buf_adds(out, "any");
		return;
	}
	buf_adds(out, "Class ");
	javap_value(out, m->body.pool, type);
}

static void print_handlers(struct javap_lines *l, const struct method *m)
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

static void print_body(struct javap_lines *l, const struct view *v, const struct method *m)
{
	const struct cf_body *b = &m->body;
	struct cf_insn insn;

	buf_adds(&l->line, "    Code:");
	if (m->memory)
		buf_addf(&l->line, " // in memory%s; JVMTI tells no exception table",
			 v->class ? ", not as in the class file" : "");
	javap_end_line(l);
	for (uint32_t pc = 0; pc < b->len; pc += insn.len) {
		if (!cf_insn(b->code, b->len, pc, &insn)) {
			buf_addf(&l->line, "    %4" PRIu32 ": ??? no instruction", pc);
			javap_end_line(l);
			break;
		}
		javap_insn(l, &insn, b->pool, v->name);
	}
	print_handlers(l, m);
}

static void print_methods(struct javap_lines *l, struct view *v)
{
	struct walk walk = walk_methods(v);
	struct method m;

	for (bool first = true; next_method(v, &walk, &m); first = false) {
		if (!first)
			javap_end_line(l);
		buf_adds(&l->line, "  ");
		add_declaration(&l->line, v, &m);
		buf_addc(&l->line, ';');
		javap_end_line(l);
		if (m.body.code)
			print_body(l, v, &m);
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
	struct cf_attribute source;

	if (cf_find_attribute(cf_class_attributes(class), "SourceFile", &source) &&
	    source.len == 2) {
		buf_adds(&l->line, "Compiled from \"");
		javasig_text(&l->line, cf_utf8(&class->pool, cf_peek_u2(source.data)));
		buf_addc(&l->line, '"');
		javap_end_line(l);
	}
	javasig_class(&l->line, class);
	buf_adds(&l->line, " {");
	javap_end_line(l);
}

const char *javap_code(FILE *out, const struct cf_class *class, const struct captured *memory)
{
	struct javap_lines l = { .out = out };
	struct view v;
	const char *why = open_view(&v, class, memory);

	if (class) {
		print_head(&l, class);
		print_fields(&l, class);
	}
	print_methods(&l, &v);
	if (class) {
		buf_addc(&l.line, '}');
		javap_end_line(&l);
	}
	javap_lines_release(&l);
	close_view(&v);
	return why;
}

static void put_taken(struct json *row, const char *key, struct buf *text)
{
	json_put_text_len(row, key, buf_str(text), text->len);
	buf_reset(text);
}

static struct json *body_json(const struct view *v, const struct cf_body *b)
{
	_cleanup_buf_ struct buf text = BUF_INIT;
	struct json *rows = json_array(), *row;
	struct cf_insn insn;

	for (uint32_t pc = 0; pc < b->len; pc += insn.len) {
		if (!cf_insn(b->code, b->len, pc, &insn))
			break;
		javap_insn_text(&text, &insn, b->pool, v->name);
		row = json_object();
		json_put_number(row, "pc", pc);
		put_taken(row, "text", &text);
		json_put(rows, NULL, row);
	}
	return rows;
}

static struct json *handlers_json(const struct method *m)
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

static struct json *method_json(const struct view *v, const struct method *m)
{
	_cleanup_buf_ struct buf text = BUF_INIT;
	struct json *row = json_object();

	add_declaration(&text, v, m);
	put_taken(row, "method", &text);
	javasig_text(&text, m->member.name);
	put_taken(row, "name", &text);
	javasig_text(&text, m->member.descriptor);
	put_taken(row, "descriptor", &text);
	json_put_bool(row, "memory", m->memory);
	if (m->body.code)
		json_put(row, "code", body_json(v, &m->body));
	else
		json_put_null(row, "code");
	if (m->body.code && !m->memory)
		json_put(row, "exceptions", handlers_json(m));
	else
		json_put_null(row, "exceptions");
	return row;
}

struct json *javap_code_json(const struct cf_class *class, const struct captured *memory)
{
	struct json *rows = json_array();
	struct walk walk;
	struct method m;
	struct view v;

	(void)open_view(&v, class, memory); /* without it, the class file's code is told */
	walk = walk_methods(&v);
	while (next_method(&v, &walk, &m))
		json_put(rows, NULL, method_json(&v, &m));
	close_view(&v);
	return rows;
}
