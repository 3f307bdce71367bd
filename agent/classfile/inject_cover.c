/*
 * What the new handlers are for: all of the method but the exits.
 *
 * While `this` is uninitialised, a handler's frame must say so (JVMS 4.10.1.4), so a constructor
 * has two.  Neither may cover the call of this() or super(): HotSpot compares the frame of a
 * handler with what was before the call and what is behind it, and no frame is both (verifier.cpp,
 * verify_invoke_init).  A constructor that this() or super() throws out of is not seen to fail.
 * None of this holds for class files without stack maps, where types are merged.
 */
#include "classfile/frames.h"

enum opcode {
	OP_BIPUSH = 0x10,
	OP_SIPUSH = 0x11,
	OP_ILOAD = 0x15,
	OP_ALOAD_3 = 0x2d,
	OP_ISTORE = 0x36,
	OP_ASTORE = 0x3a,
	OP_ISTORE_0 = 0x3b,
	OP_ASTORE_3 = 0x4e,
	OP_POP = 0x57,
	OP_SWAP = 0x5f,
	OP_INVOKESPECIAL = 0xb7,
	OP_NEW = 0xbb,
};

enum state {
	THIS_INIT,
	THIS_UNINIT,
	THIS_UNCLEAR, /* it may be either: nothing is covered until a frame tells */
};

struct cover {
	struct injecting *m;
	enum state state;
	uint32_t from;    /* where the stretch begins in the new code */
	bool throws;      /* something in it may throw */
	bool moved;       /* `this` is not in its variable while it is uninitialised */
	uint32_t n_early;
	/* objects that were made, not constructed yet, that might be taken for `this` */
	uint32_t open;
	struct frames frames;
};

/* The stretch ends here, and the next one begins there. */
static void cut(struct cover *c, uint32_t end, uint32_t next, enum state state)
{
	struct cf_output *out = &c->m->covered;
	bool early = c->state == THIS_UNINIT;

	if (c->from < end && c->state != THIS_UNCLEAR && (!early || c->throws)) {
		cf_put_u2(out, (uint16_t)c->from);
		cf_put_u2(out, (uint16_t)end);
		cf_put_u2(out, early); /* which handler: it is not placed yet */
		c->m->n_covered++;
		c->n_early += early;
	}
	c->from = next;
	c->throws = false;
	c->state = state;
}

/* Constructors that may be called for `this` are this class's and its superclass's. */
static bool is_ours(const struct cover *c, struct cf_text name)
{
	return cf_text_same(name, cf_name(c->m->class)) ||
	       cf_text_same(name, cf_super(c->m->class));
}

static bool makes_ours(const struct cover *c, uint32_t pc)
{
	struct cf_insn insn;

	return cf_insn(c->m->code.code, c->m->code.len, pc, &insn) && insn.opcode == OP_NEW &&
	       is_ours(c, cf_class_name(&c->m->class->pool, insn.index));
}

static void at_frame(struct cover *c, uint32_t pc)
{
	struct cf_bytes stack = c->frames.stack;
	uint32_t here = inj_label(c->m, pc);

	cut(c, here, here, frames_uninit(&c->frames) ? THIS_UNINIT : THIS_INIT);
	if (c->state == THIS_INIT)
		return;
	c->moved |= !frames_this_first(&c->frames);
	c->open = 0;
	for (uint32_t i = 0; i < c->frames.n_cells; i++) {
		if (c->frames.cells[i].tag == INJ_UNINIT)
			c->open += makes_ours(c, c->frames.cells[i].of);
	}
	for (uint32_t i = 0; i < c->frames.n_stack; i++) {
		struct inj_cell cell = frames_cell(&stack);

		if (cell.tag == INJ_UNINIT)
			c->open += makes_ours(c, cell.of);
	}
}

/* A call of <init> while `this` may be uninitialised: for `this`, or for what was made? */
static void at_construction(struct cover *c, const struct cf_insn *insn)
{
	uint32_t here = inj_place(c->m, insn->pc);
	struct cf_ref ref;

	if (!cf_ref(&c->m->class->pool, insn->index, &ref) || !cf_text_is(ref.name, "<init>") ||
	    !is_ours(c, ref.class))
		return;
	cut(c, here, here + insn->len, c->open > 0 ? THIS_UNCLEAR : THIS_INIT);
	if (c->open > 0)
		c->open--;
}

/* What stores into the first variable, where `this` is. */
static bool stores_first(const struct cf_insn *insn)
{
	if (insn->opcode >= OP_ISTORE && insn->opcode <= OP_ASTORE)
		return insn->index == 0;
	return insn->opcode >= OP_ISTORE_0 && insn->opcode <= OP_ASTORE_3 &&
	       (insn->opcode - OP_ISTORE_0) % 4 == 0;
}

/* Constants, local variables and the stack: all that most constructors have before super(). */
static bool is_quiet(uint8_t opcode)
{
	return opcode <= OP_SIPUSH || (opcode >= OP_ILOAD && opcode <= OP_ALOAD_3) ||
	       (opcode >= OP_ISTORE && opcode <= OP_ASTORE_3) ||
	       (opcode >= OP_POP && opcode <= OP_SWAP);
}

static void before_construction(struct cover *c, const struct cf_insn *insn)
{
	if (insn->opcode == OP_NEW)
		c->open += makes_ours(c, insn->pc);
	if (insn->opcode == OP_INVOKESPECIAL)
		at_construction(c, insn);
	if (c->state == THIS_UNINIT) {
		c->moved |= stores_first(insn);
		c->throws |= !is_quiet(insn->opcode);
	}
}

static void at_insn(struct cover *c, const struct cf_insn *insn)
{
	uint32_t pc = insn->pc;

	while (c->frames.pc + 1 < pc + 1 && frames_next(&c->frames))
		continue;
	if (c->frames.pc == pc)
		at_frame(c, pc);
	if (inj_is_return(insn->opcode))
		cut(c, inj_label(c->m, pc), inj_place(c->m, pc) + 1, c->state);
	else if (c->state != THIS_INIT)
		before_construction(c, insn);
}

enum cf_refusal inj_cover(struct injecting *m)
{
	struct cover c = { .m = m, .from = m->stored, .frames.pc = UINT32_MAX };
	struct cf_insn insn;

	if (m->is_init && m->with_maps) {
		c.state = THIS_UNINIT;
		frames_open(&c.frames, m);
	}
	m->covered.len = 0;
	m->n_covered = 0;
	for (uint32_t pc = 0; pc < m->code.len; pc += insn.len) {
		(void)cf_insn(m->code.code, m->code.len, pc, &insn); /* was looked at before */
		at_insn(&c, &insn);
	}
	cut(&c, m->end, m->end, c.state);
	if (c.frames.failed)
		return CF_MALFORMED;
	m->n_usual = m->n_covered - c.n_early;
	m->n_early = c.moved ? 0 : c.n_early;
	return CF_HOOKED;
}
