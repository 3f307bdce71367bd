#include "classfile/frames.h"

enum frame_type { /* the first of each kind (JVMS 4.7.4) */
	FRAME_STACK_1 = 64,
	FRAME_RESERVED = 128,
	FRAME_STACK_1_EXTENDED = 247,
	FRAME_CHOP = 248,
	FRAME_SAME_EXTENDED = 251,
	FRAME_APPEND = 252,
	FRAME_FULL = 255,
};

/*
 * What a hostile class can make us do: a fifth of a second or so, and as many bytes.  The largest
 * classes there are need less than a tenth.
 */
#define WORK_MAX (1u << 26)
#define ADDED 3 /* frames, at most */

static uint32_t slots_of(struct inj_cell cell)
{
	return cell.tag == INJ_LONG || cell.tag == INJ_DOUBLE ? 2 : 1;
}

struct inj_cell frames_cell(struct cf_bytes *bytes)
{
	struct inj_cell cell = { .tag = cf_u1(bytes) };

	if (cell.tag > INJ_UNINIT)
		bytes->failed = true;
	else if (cell.tag >= INJ_OBJECT)
		cell.of = cf_u2(bytes);
	return cell;
}

static void push(struct frames *f, struct inj_cell cell)
{
	f->slots += slots_of(cell);
	if (f->slots > f->max_slots)
		f->failed = true;
	else
		f->cells[f->n_cells++] = cell;
}

static void push_read(struct frames *f, uint32_t n)
{
	while (n-- > 0 && !f->failed) {
		push(f, frames_cell(&f->bytes));
		f->failed |= f->bytes.failed;
	}
}

static void chop(struct frames *f, uint32_t n)
{
	while (n-- > 0 && !f->failed) {
		if (f->n_cells == 0)
			f->failed = true;
		else
			f->slots -= slots_of(f->cells[--f->n_cells]);
	}
}

static void read_stack(struct frames *f, uint32_t n)
{
	const uint8_t *at = f->bytes.at;

	f->n_stack = n;
	while (n-- > 0 && !f->bytes.failed)
		(void)frames_cell(&f->bytes);
	f->stack = cf_bytes_init(at, (size_t)(f->bytes.at - at));
}

static void read_full(struct frames *f)
{
	f->n_cells = f->slots = 0;
	push_read(f, cf_u2(&f->bytes));
	read_stack(f, cf_u2(&f->bytes));
}

/* How far behind the instruction that follows the frame before. */
static uint32_t read_delta(struct cf_bytes *bytes, uint8_t type)
{
	return type < FRAME_RESERVED ? type % FRAME_STACK_1 : cf_u2(bytes);
}

bool frames_next(struct frames *f)
{
	uint8_t type;

	if (f->left == 0 || f->failed)
		return false;
	f->left--;
	type = cf_u1(&f->bytes);
	f->pc += 1 + read_delta(&f->bytes, type);
	f->n_stack = 0;
	if (type == FRAME_FULL)
		read_full(f);
	else if (type >= FRAME_APPEND)
		push_read(f, type - FRAME_SAME_EXTENDED);
	else if (type >= FRAME_CHOP)
		chop(f, FRAME_SAME_EXTENDED - type);
	else if (type >= FRAME_RESERVED && type < FRAME_STACK_1_EXTENDED)
		f->failed = true;
	else if (type >= FRAME_STACK_1)
		read_stack(f, 1);
	f->failed |= f->bytes.failed;
	return !f->failed;
}

static struct inj_cell cell_of(struct injecting *m, const struct cf_type *type)
{
	static const uint8_t tags[] = { INJ_INTEGER, INJ_LONG, INJ_FLOAT, INJ_DOUBLE };
	enum inj_kind kind = inj_kind(type);

	if (kind < INJ_L)
		return (struct inj_cell){ tags[kind], 0 };
	return (struct inj_cell){
		INJ_OBJECT, inj_class(&m->constants, type->dimensions ? type->text : type->element)
	};
}

void frames_open(struct frames *f, struct injecting *m)
{
	struct cf_text rest = m->parameters;
	struct cf_type type;

	*f = (struct frames){
		.pc = UINT32_MAX,
		.cells = m->room->cells,
		.max_slots = m->code.max_locals,
		.bytes = cf_bytes_init(m->maps.data, m->maps.len),
	};
	if (m->maps.data)
		f->left = cf_u2(&f->bytes);
	if (m->is_init)
		push(f, (struct inj_cell){ INJ_UNINIT_THIS, 0 });
	else if (!m->is_static)
		push(f, (struct inj_cell){ INJ_OBJECT, m->class->this_class });
	while (cf_type_next(&rest, &type))
		push(f, cell_of(m, &type));
	f->failed |= f->bytes.failed;
}

bool frames_are_too_many(struct injecting *m)
{
	struct cf_bytes bytes = cf_bytes_init(m->maps.data, m->maps.len);
	uint64_t n = ADDED;

	if (m->maps.data)
		n += cf_u2(&bytes);
	m->work += m->method.descriptor.len;
	if (m->with_maps)
		m->work += n * (m->code.max_locals + 1u);
	return m->work > WORK_MAX;
}

bool frames_uninit(const struct frames *f)
{
	struct cf_bytes stack = f->stack;

	for (uint32_t i = 0; i < f->n_cells; i++) {
		if (f->cells[i].tag == INJ_UNINIT_THIS)
			return true;
	}
	for (uint32_t i = 0; i < f->n_stack; i++) {
		if (frames_cell(&stack).tag == INJ_UNINIT_THIS)
			return true;
	}
	return false;
}

bool frames_this_first(const struct frames *f)
{
	return f->n_cells > 0 && f->cells[0].tag == INJ_UNINIT_THIS;
}

/* A StackMapTable as it is written. */
struct table {
	struct injecting *m;
	uint32_t last;  /* where the last frame is; UINT32_MAX before the first */
	uint32_t n;
	bool failed;
};

static void put_cell(struct table *t, struct inj_cell cell)
{
	uint32_t of = cell.of;

	if (cell.tag == INJ_UNINIT)
		of = inj_place(t->m, of);
	t->failed |= of == INJ_NOWHERE;
	cf_put_u1(&t->m->body, cell.tag);
	if (cell.tag >= INJ_OBJECT)
		cf_put_u2(&t->m->body, (uint16_t)of);
}

/* The locals, nothing behind them up to where the method's own end, and the token. */
static void put_frame(struct table *t, uint32_t at, const struct frames *f)
{
	struct cf_output *out = &t->m->body;
	uint32_t fill = f->max_slots - f->slots;
	struct cf_bytes stack = f->stack;

	cf_put_u1(out, FRAME_FULL);
	cf_put_u2(out, (uint16_t)(at - t->last - 1));
	cf_put_u2(out, (uint16_t)(f->n_cells + fill + 1));
	for (uint32_t i = 0; i < f->n_cells; i++)
		put_cell(t, f->cells[i]);
	while (fill-- > 0)
		cf_put_u1(out, INJ_TOP);
	cf_put_u1(out, INJ_LONG);
	cf_put_u2(out, (uint16_t)f->n_stack);
	for (uint32_t i = 0; i < f->n_stack; i++)
		put_cell(t, frames_cell(&stack));
	t->last = at;
	t->n++;
}

/* A handler's: what it catches on the stack, of the locals at most that `this` is no object yet. */
static void put_handler(struct table *t, uint32_t at, bool uninit)
{
	struct inj_constants *c = &t->m->constants;
	struct inj_cell this = { INJ_UNINIT_THIS, 0 };
	uint8_t stack[3] = { INJ_OBJECT };
	struct frames f = {
		.cells = &this,
		.n_cells = uninit,
		.slots = uninit,
		.max_slots = t->m->code.max_locals,
		.stack = cf_bytes_init(stack, sizeof(stack)),
		.n_stack = 1,
	};

	if (c->throwable == 0)
		c->throwable = inj_class(c, (struct cf_text){ "java/lang/Throwable", 19 });
	stack[1] = (uint8_t)(c->throwable >> 8);
	stack[2] = (uint8_t)c->throwable;
	put_frame(t, at, &f);
}

static bool begins_at_0(const struct frames *f)
{
	struct cf_bytes bytes = f->bytes;

	return f->left > 0 && read_delta(&bytes, cf_u1(&bytes)) == 0;
}

/* Arguments that are told may be jumped over, to where there must be a frame then. */
static void put_first(struct table *t, const struct frames *parameters)
{
	if (t->m->enter.len > t->m->stored && !begins_at_0(parameters))
		put_frame(t, (uint32_t)t->m->enter.len, parameters);
}

static enum cf_refusal put_own(struct table *t, struct frames *f)
{
	while (frames_next(f)) {
		uint32_t at = f->pc < t->m->code.len ? inj_label(t->m, f->pc) : INJ_NOWHERE;

		if (at == INJ_NOWHERE)
			return CF_MALFORMED;
		put_frame(t, at, f);
	}
	return f->failed || t->failed || cf_bytes_left(&f->bytes) > 0 ? CF_MALFORMED : CF_HOOKED;
}

enum cf_refusal frames_put(struct injecting *m)
{
	struct table t = { .m = m, .last = UINT32_MAX };
	enum cf_refusal refusal;
	struct frames f;
	size_t count = m->body.len;

	frames_open(&f, m);
	if (f.failed)
		return CF_MALFORMED;
	cf_put_u2(&m->body, 0);
	put_first(&t, &f);
	refusal = put_own(&t, &f);
	if (refusal != CF_HOOKED)
		return refusal;
	if (m->caught)
		put_handler(&t, m->caught, false);
	if (m->caught_early)
		put_handler(&t, m->caught_early, true);
	if (t.n > UINT16_MAX)
		return CF_TOO_MANY;
	cf_set_u2(&m->body, count, (uint16_t)t.n);
	return CF_HOOKED;
}

static void move_cells(struct table *t, struct cf_bytes *from, uint32_t n)
{
	while (n-- > 0 && !from->failed)
		put_cell(t, frames_cell(from));
}

/* How far, in the shortest form that the frame's kind has. */
static void put_delta(struct table *t, uint8_t type, uint32_t delta)
{
	struct cf_output *out = &t->m->body;

	if (type < FRAME_RESERVED && delta < FRAME_STACK_1) {
		cf_put_u1(out, (uint8_t)(type / FRAME_STACK_1 * FRAME_STACK_1 + delta));
		return;
	}
	if (type < FRAME_RESERVED)
		type = type < FRAME_STACK_1 ? FRAME_SAME_EXTENDED : FRAME_STACK_1_EXTENDED;
	cf_put_u1(out, type);
	cf_put_u2(out, (uint16_t)delta);
}

static void move_frame(struct table *t, struct cf_bytes *from, uint32_t *pc)
{
	uint8_t type = cf_u1(from);
	uint32_t n, at;

	*pc += 1 + read_delta(from, type);
	at = *pc < t->m->code.len ? inj_label(t->m, *pc) : INJ_NOWHERE;
	t->failed |= at == INJ_NOWHERE ||
		     (type >= FRAME_RESERVED && type < FRAME_STACK_1_EXTENDED);
	put_delta(t, type, at - t->last - 1);
	t->last = at;
	if (type == FRAME_FULL) {
		n = cf_u2(from);
		cf_put_u2(&t->m->body, (uint16_t)n);
		move_cells(t, from, n);
		n = cf_u2(from);
		cf_put_u2(&t->m->body, (uint16_t)n);
		move_cells(t, from, n);
	} else if (type >= FRAME_APPEND) {
		move_cells(t, from, type - FRAME_SAME_EXTENDED);
	} else if ((type >= FRAME_STACK_1 && type < FRAME_RESERVED) ||
		   type == FRAME_STACK_1_EXTENDED) {
		move_cells(t, from, 1);
	}
}

enum cf_refusal frames_move(struct injecting *m)
{
	struct table t = { .m = m, .last = UINT32_MAX };
	struct cf_bytes from = cf_bytes_init(m->maps.data, m->maps.len);
	uint32_t pc = UINT32_MAX, left = m->maps.data ? cf_u2(&from) : 0;

	cf_put_u2(&m->body, (uint16_t)left);
	for (; left > 0 && !t.failed && !from.failed; left--)
		move_frame(&t, &from, &pc);
	return t.failed || from.failed || cf_bytes_left(&from) > 0 ? CF_MALFORMED : CF_HOOKED;
}
