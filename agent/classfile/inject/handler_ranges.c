/*
 * Computes the ranges of code that the new exception handlers cover: the complete method except the
 * returns and the calls of the hooks `exit…` before them.
 *
 * If `this` is uninitialised in covered code, it must be uninitialised in the handler's stack map
 * frame (JVMS 4.10.1.4).  Therefore a constructor has two handlers: "early" covers the code in
 * which `this` is uninitialised, "main" covers the other code.  Neither handler may cover the call
 * of this() or super(), because HotSpot compares the handler's frame with the frames before and
 * after that call, and no frame matches both (verifier.cpp, verify_invoke_init).  So a constructor
 * does not call the hook `fail` when this() or super() throws.  A class file without stack maps
 * needs only one handler, because the verifier merges the types of all code that the handler
 * covers.
 */
#include "classfile/inject/inject_maps.h"

enum state {
	THIS_INIT,
	THIS_UNINIT,
	THIS_UNKNOWN, /* either of these: no code is covered until the next stack map frame */
};

struct cover {
	struct injection *in;
	enum state state;
	uint32_t from; /* new pc at which the current range begins */
	bool throws;   /* an instruction in the current range may throw */
	bool moved;    /* the code stores to local 0 while `this` is uninitialised */
	/*
	 * Number of objects of this class or its superclass that are allocated but whose <init> has
	 * not been called yet.
	 */
	uint32_t pending;
	struct inj_frames frames;
};

/* Ends the current range at the new pc `end`; the next range begins at the new pc `next`. */
static void end_range(struct cover *c, uint32_t end, uint32_t next, enum state state)
{
	struct inj_handlers *h = &c->in->handlers;
	bool early = c->state == THIS_UNINIT;

	if (c->from < end && c->state != THIS_UNKNOWN && (!early || c->throws)) {
		cf_put_u2(&h->ranges, (uint16_t)c->from);
		cf_put_u2(&h->ranges, (uint16_t)end);
		cf_put_u2(&h->ranges, early);
		h->n_main += !early;
		h->n_early += early;
	}
	c->from = next;
	c->throws = false;
	c->state = state;
}

/*
 * Returns true if `name` is the class itself or its superclass: only their constructors may be
 * called for `this`.
 */
static bool is_self_or_super(const struct cover *c, struct cf_text name)
{
	return cf_text_same(name, cf_name(c->in->class)) ||
	       cf_text_same(name, cf_super(c->in->class));
}

static bool allocates_self_or_super(const struct cover *c, uint32_t pc)
{
	const struct cf_code *code = &c->in->method.code;
	struct cf_insn insn;

	return cf_insn(code->code, code->len, pc, &insn) && insn.opcode == OP_new &&
	       is_self_or_super(c, cf_class_name(&c->in->class->pool, insn.index));
}

static void at_frame(struct cover *c, uint32_t pc)
{
	struct cf_bytes stack = c->frames.stack;
	uint32_t here = inj_label(c->in, pc);

	end_range(c, here, here, inj_frames_uninit(&c->frames) ? THIS_UNINIT : THIS_INIT);
	if (c->state == THIS_INIT)
		return;
	c->moved |= !inj_frames_this_first(&c->frames);
	c->pending = 0;
	for (uint32_t i = 0; i < c->frames.n_cells; i++) {
		if (c->frames.cells[i].tag == CF_MAP_UNINIT)
			c->pending += allocates_self_or_super(c, c->frames.cells[i].of);
	}
	for (uint32_t i = 0; i < c->frames.n_stack; i++) {
		struct cf_map_type cell = cf_map_type(&stack);

		if (cell.tag == CF_MAP_UNINIT)
			c->pending += allocates_self_or_super(c, cell.of);
	}
}

/*
 * Handles invokespecial while `this` may be uninitialised.  A call of <init> of this class or its
 * superclass initialises `this`.  But if c->pending is above 0, the call may instead be for a new
 * object, so it is unknown afterwards whether `this` is initialised.
 */
static void at_construction(struct cover *c, const struct cf_insn *insn)
{
	uint32_t here = inj_new_pc(c->in, insn->pc);
	struct cf_ref ref;

	if (!cf_ref(&c->in->class->pool, insn->index, &ref) || !cf_text_is(ref.name, "<init>") ||
	    !is_self_or_super(c, ref.class))
		return;
	end_range(c, here, here + insn->len, c->pending > 0 ? THIS_UNKNOWN : THIS_INIT);
	if (c->pending > 0)
		c->pending--;
}

/* Returns true if `insn` stores to local 0, which has `this` at the start of the method. */
static bool stores_local_0(const struct cf_insn *insn)
{
	if (insn->opcode >= OP_istore && insn->opcode <= OP_astore)
		return insn->index == 0;
	return insn->opcode >= OP_istore_0 && insn->opcode <= OP_astore_3 &&
	       (insn->opcode - OP_istore_0) % 4 == 0;
}

/*
 * Returns true for opcodes that cannot throw and are frequent before super(); false for all other
 * opcodes, even if they cannot throw.
 */
static bool cannot_throw(uint8_t opcode)
{
	return opcode <= OP_sipush || (opcode >= OP_iload && opcode <= OP_aload_3) ||
	       (opcode >= OP_istore && opcode <= OP_astore_3) ||
	       (opcode >= OP_pop && opcode <= OP_swap);
}

static void before_construction(struct cover *c, const struct cf_insn *insn)
{
	if (insn->opcode == OP_new)
		c->pending += allocates_self_or_super(c, insn->pc);
	if (insn->opcode == OP_invokespecial)
		at_construction(c, insn);
	if (c->state == THIS_UNINIT) {
		c->moved |= stores_local_0(insn);
		c->throws |= !cannot_throw(insn->opcode);
	}
}

static void at_insn(struct cover *c, const struct cf_insn *insn)
{
	uint32_t pc = insn->pc;

	while (c->frames.pc + 1 < pc + 1 && inj_frames_next(&c->frames))
		continue;
	if (c->frames.pc == pc)
		at_frame(c, pc);
	if (cf_is_return(insn->opcode))
		end_range(c, inj_label(c->in, pc), inj_new_pc(c->in, pc) + 1, c->state);
	else if (c->state != THIS_INIT)
		before_construction(c, insn);
}

enum cf_refusal inj_cover(struct injection *in)
{
	struct cover c = { .in = in, .from = in->added.stored, .frames.pc = UINT32_MAX };
	const struct cf_code *code = &in->method.code;
	struct inj_handlers *h = &in->handlers;
	struct cf_insn insn;

	if (in->method.is_init && in->method.with_maps) {
		c.state = THIS_UNINIT;
		inj_frames_open(&c.frames, in);
	}
	h->ranges.len = 0;
	h->n_main = h->n_early = 0;
	for (uint32_t pc = 0; pc < code->len; pc += insn.len) {
		/* cannot fail, because inj_lay_out() has checked the code */
		(void)cf_insn(code->code, code->len, pc, &insn);
		at_insn(&c, &insn);
	}
	end_range(&c, in->layout->end, in->layout->end, c.state);
	if (c.moved)
		h->n_early = 0;
	return c.frames.failed ? CF_MALFORMED : CF_HOOKED;
}
