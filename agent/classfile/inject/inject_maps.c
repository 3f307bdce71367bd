#include "classfile/inject/inject_maps.h"

/*
 * Limit of in->work.  A hostile class that reaches this limit takes 0.2 s and 64 MB.  Known classes
 * reach at most a tenth of the limit.
 */
#define WORK_MAX (1u << 26)
#define NEW_FRAMES_MAX 3 /* added to a method: 1 at the entry, and 1 for each of 2 handlers */

static uint32_t slots_of(struct cf_map_type cell)
{
	return cell.tag == CF_MAP_LONG || cell.tag == CF_MAP_DOUBLE ? 2 : 1;
}

static void push(struct inj_frames *f, struct cf_map_type cell)
{
	f->slots += slots_of(cell);
	if (f->slots > f->max_slots)
		f->failed = true;
	else
		f->cells[f->n_cells++] = cell;
}

static void push_read(struct inj_frames *f, uint32_t n)
{
	while (n-- > 0 && !f->failed) {
		push(f, cf_map_type(&f->bytes));
		f->failed |= f->bytes.failed;
	}
}

static void chop(struct inj_frames *f, uint32_t n)
{
	while (n-- > 0 && !f->failed) {
		if (f->n_cells == 0)
			f->failed = true;
		else
			f->slots -= slots_of(f->cells[--f->n_cells]);
	}
}

static void read_stack(struct inj_frames *f, uint32_t n)
{
	const uint8_t *at = f->bytes.at;

	f->n_stack = n;
	while (n-- > 0 && !f->bytes.failed)
		(void)cf_map_type(&f->bytes);
	f->stack = cf_bytes_init(at, (size_t)(f->bytes.at - at));
}

bool inj_frames_next(struct inj_frames *f)
{
	struct cf_map_entry entry;

	if (f->left == 0 || f->failed)
		return false;
	f->left--;
	entry = cf_map_entry(&f->bytes);
	f->pc += 1u + entry.delta;
	if (entry.frame_type == CF_MAP_FULL)
		f->n_cells = f->slots = 0;
	chop(f, entry.n_chopped);
	push_read(f, entry.n_locals);
	read_stack(f, cf_map_stack(&f->bytes, &entry));
	f->failed |= f->bytes.failed;
	return !f->failed;
}

static struct cf_map_type cell_of(struct injection *in, const struct cf_type *type)
{
	static const uint8_t tags[] = { CF_MAP_INTEGER, CF_MAP_LONG, CF_MAP_FLOAT, CF_MAP_DOUBLE };
	enum inj_kind kind = inj_kind(type);
	struct cf_text name = type->dimensions ? type->text : type->element;

	if (kind < INJ_L)
		return (struct cf_map_type){ tags[kind], 0 };
	return (struct cf_map_type){ CF_MAP_OBJECT, inj_class(&in->constants, name) };
}

void inj_frames_open(struct inj_frames *f, struct injection *in)
{
	const struct inj_method *m = &in->method;
	struct cf_text rest = m->parameters;
	struct cf_type type;

	*f = (struct inj_frames){
		.pc = UINT32_MAX,
		.cells = in->cells,
		.max_slots = m->code.max_locals,
		.bytes = cf_bytes_init(m->maps.data, m->maps.len),
	};
	if (m->maps.data)
		f->left = cf_u2(&f->bytes);
	if (m->is_init)
		push(f, (struct cf_map_type){ CF_MAP_UNINIT_THIS, 0 });
	else if (!m->is_static)
		push(f, (struct cf_map_type){ CF_MAP_OBJECT, in->class->this_class });
	while (cf_type_next(&rest, &type))
		push(f, cell_of(in, &type));
	f->failed |= f->bytes.failed;
}

bool inj_maps_take_too_long(struct injection *in)
{
	const struct inj_method *m = &in->method;
	struct cf_bytes bytes = cf_bytes_init(m->maps.data, m->maps.len);
	uint64_t n = NEW_FRAMES_MAX;

	if (m->maps.data)
		n += cf_u2(&bytes);
	in->work += m->member.descriptor.len;
	if (m->with_maps)
		in->work += n * (m->code.max_locals + 1u);
	return in->work > WORK_MAX;
}

bool inj_frames_uninit(const struct inj_frames *f)
{
	struct cf_bytes stack = f->stack;

	for (uint32_t i = 0; i < f->n_cells; i++) {
		if (f->cells[i].tag == CF_MAP_UNINIT_THIS)
			return true;
	}
	for (uint32_t i = 0; i < f->n_stack; i++) {
		if (cf_map_type(&stack).tag == CF_MAP_UNINIT_THIS)
			return true;
	}
	return false;
}

bool inj_frames_this_first(const struct inj_frames *f)
{
	return f->n_cells > 0 && f->cells[0].tag == CF_MAP_UNINIT_THIS;
}

/* A StackMapTable that is being written. */
struct table {
	struct injection *in;
	uint32_t last;  /* pc of the last written frame; UINT32_MAX before the first */
	uint32_t n;
	bool failed;
};

static void put_cell(struct table *t, struct cf_map_type cell)
{
	uint32_t of = cell.of;

	if (cell.tag == CF_MAP_UNINIT)
		of = inj_new_pc(t->in, of);
	t->failed |= of == INJ_NO_PC;
	cf_put_u1(&t->in->body, cell.tag);
	if (cell.tag >= CF_MAP_OBJECT)
		cf_put_u2(&t->in->body, (uint16_t)of);
}

/*
 * Writes a full frame for the new pc `at`.  The local variables of the frame are those of *f,
 * CF_MAP_TOP for each further slot below max_locals, and the token, which the injected code stores
 * in the new local variable max_locals.
 */
static void put_frame(struct table *t, uint32_t at, const struct inj_frames *f)
{
	struct cf_output *out = &t->in->body;
	uint32_t fill = f->max_slots - f->slots;
	struct cf_bytes stack = f->stack;

	cf_put_u1(out, CF_MAP_FULL);
	cf_put_u2(out, (uint16_t)(at - t->last - 1));
	cf_put_u2(out, (uint16_t)(f->n_cells + fill + 1));
	for (uint32_t i = 0; i < f->n_cells; i++)
		put_cell(t, f->cells[i]);
	while (fill-- > 0)
		cf_put_u1(out, CF_MAP_TOP);
	cf_put_u1(out, CF_MAP_LONG);
	cf_put_u2(out, (uint16_t)f->n_stack);
	for (uint32_t i = 0; i < f->n_stack; i++)
		put_cell(t, cf_map_type(&stack));
	t->last = at;
	t->n++;
}

/*
 * Writes the frame at the first instruction of a new handler.  The stack has a Throwable.  The
 * locals are the token and, if `uninit` is true, the uninitialised `this`.
 */
static void put_handler(struct table *t, uint32_t at, bool uninit)
{
	struct inj_constants *c = &t->in->constants;
	struct cf_map_type this = { CF_MAP_UNINIT_THIS, 0 };
	uint8_t stack[3] = { CF_MAP_OBJECT };
	struct inj_frames f = {
		.cells = &this,
		.n_cells = uninit,
		.slots = uninit,
		.max_slots = t->in->method.code.max_locals,
		.stack = cf_bytes_init(stack, sizeof(stack)),
		.n_stack = 1,
	};

	if (c->throwable == 0)
		c->throwable = inj_class(c, (struct cf_text){ "java/lang/Throwable", 19 });
	stack[1] = (uint8_t)(c->throwable >> 8);
	stack[2] = (uint8_t)c->throwable;
	put_frame(t, at, &f);
}

static bool begins_at_0(const struct inj_frames *f)
{
	struct cf_bytes bytes = f->bytes;

	return f->left > 0 && cf_map_entry(&bytes).delta == 0;
}

/*
 * Writes a frame for the method's first instruction if the inserted code calls the hooks `arg…`,
 * because a jump over these calls leads to this instruction.  Writes nothing if the method's own
 * table has a frame for the instruction (at the old pc 0).
 */
static void put_first(struct table *t, const struct inj_frames *parameters)
{
	const struct inj_added *added = &t->in->added;

	if (added->enter.len > added->stored && !begins_at_0(parameters))
		put_frame(t, (uint32_t)added->enter.len, parameters);
}

/* Returns the new pc of the frame that had `pc`; or INJ_NO_PC if no instruction begins at `pc`. */
static uint32_t frame_pc(const struct injection *in, uint32_t pc)
{
	return pc < in->method.code.len ? inj_label(in, pc) : INJ_NO_PC;
}

static enum cf_refusal put_own_frames(struct table *t, struct inj_frames *f)
{
	while (inj_frames_next(f)) {
		uint32_t at = frame_pc(t->in, f->pc);

		if (at == INJ_NO_PC)
			return CF_MALFORMED;
		put_frame(t, at, f);
	}
	return f->failed || t->failed || cf_bytes_left(&f->bytes) > 0 ? CF_MALFORMED : CF_HOOKED;
}

enum cf_refusal inj_maps_put(struct injection *in)
{
	struct table t = { .in = in, .last = UINT32_MAX };
	enum cf_refusal refusal;
	struct inj_frames f;
	size_t count = in->body.len;

	inj_frames_open(&f, in);
	if (f.failed)
		return CF_MALFORMED;
	cf_put_u2(&in->body, 0);
	put_first(&t, &f);
	refusal = put_own_frames(&t, &f);
	if (refusal != CF_HOOKED)
		return refusal;
	if (in->handlers.main)
		put_handler(&t, in->handlers.main, false);
	if (in->handlers.early)
		put_handler(&t, in->handlers.early, true);
	if (t.n > UINT16_MAX)
		return CF_TOO_MANY;
	cf_set_u2(&in->body, count, (uint16_t)t.n);
	return CF_HOOKED;
}

static void move_types(struct table *t, struct cf_bytes *from, uint32_t n)
{
	while (n-- > 0 && !from->failed)
		put_cell(t, cf_map_type(from));
}

/* Writes the type and the delta of a frame in the shortest form. */
static void put_delta(struct table *t, uint8_t type, uint32_t delta)
{
	struct cf_output *out = &t->in->body;

	if (type < CF_MAP_RESERVED && delta < CF_MAP_STACK_1) {
		cf_put_u1(out, (uint8_t)(type / CF_MAP_STACK_1 * CF_MAP_STACK_1 + delta));
		return;
	}
	if (type < CF_MAP_RESERVED)
		type = type < CF_MAP_STACK_1 ? CF_MAP_SAME_EXTENDED : CF_MAP_STACK_1_EXTENDED;
	cf_put_u1(out, type);
	cf_put_u2(out, (uint16_t)delta);
}

static void move_frame(struct table *t, struct cf_bytes *from, uint32_t *pc)
{
	struct cf_map_entry entry = cf_map_entry(from);
	bool full = entry.frame_type == CF_MAP_FULL;
	uint32_t at;
	uint16_t n;

	*pc += 1u + entry.delta;
	at = frame_pc(t->in, *pc);
	t->failed |= at == INJ_NO_PC;
	put_delta(t, entry.frame_type, at - t->last - 1);
	t->last = at;
	if (full)
		cf_put_u2(&t->in->body, entry.n_locals);
	move_types(t, from, entry.n_locals);
	n = cf_map_stack(from, &entry);
	if (full)
		cf_put_u2(&t->in->body, n);
	move_types(t, from, n);
}

enum cf_refusal inj_maps_move(struct injection *in)
{
	struct table t = { .in = in, .last = UINT32_MAX };
	const struct cf_attribute *maps = &in->method.maps;
	struct cf_bytes from = cf_bytes_init(maps->data, maps->len);
	uint32_t pc = UINT32_MAX, left = maps->data ? cf_u2(&from) : 0;

	cf_put_u2(&in->body, (uint16_t)left);
	for (; left > 0 && !t.failed && !from.failed; left--)
		move_frame(&t, &from, &pc);
	return t.failed || from.failed || cf_bytes_left(&from) > 0 ? CF_MALFORMED : CF_HOOKED;
}
