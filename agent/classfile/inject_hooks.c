/* The code that is put into a method. */
#include "classfile/injecting.h"

enum opcode {
	OP_LCONST_0 = 0x09,
	OP_BIPUSH = 0x10,
	OP_SIPUSH = 0x11,
	OP_LOAD = 0x15,    /* iload, lload, … */
	OP_LOAD_0 = 0x1a,  /* iload_0 … iload_3, lload_0, … */
	OP_STORE = 0x36,
	OP_STORE_0 = 0x3b,
	OP_DUP = 0x59,
	OP_DUP2 = 0x5c,
	OP_IADD = 0x60,
	OP_ISHL = 0x78,
	OP_LCMP = 0x94,
	OP_IFEQ = 0x99,
	OP_IRETURN = 0xac,
	OP_RETURN = 0xb1,
	OP_INVOKESTATIC = 0xb8,
	OP_ATHROW = 0xbf,
	OP_WIDE = 0xc4,
};

bool inj_is_return(uint8_t opcode)
{
	return opcode >= OP_IRETURN && opcode <= OP_RETURN;
}

enum inj_kind inj_kind(const struct cf_type *type)
{
	switch (type->kind) {
	case 'J':
		return INJ_J;
	case 'F':
		return INJ_F;
	case 'D':
		return INJ_D;
	case 'L':
		return INJ_L;
	case 'V':
		return INJ_VOID;
	default:
		return INJ_I;
	}
}

/* A load or a store of a local variable in its shortest form. */
static void put_local(struct cf_output *out, uint8_t opcode, uint8_t opcode_0, enum inj_kind kind,
		      uint32_t index)
{
	if (index <= 3) {
		cf_put_u1(out, (uint8_t)(opcode_0 + 4 * (uint32_t)kind + index));
		return;
	}
	if (index > UINT8_MAX)
		cf_put_u1(out, OP_WIDE);
	cf_put_u1(out, (uint8_t)(opcode + kind));
	if (index > UINT8_MAX)
		cf_put_u2(out, (uint16_t)index);
	else
		cf_put_u1(out, (uint8_t)index);
}

static void put_load(struct cf_output *out, enum inj_kind kind, uint32_t index)
{
	put_local(out, OP_LOAD, OP_LOAD_0, kind, index);
}

/*
 * Not as a constant: ids are never the same again, and HotSpot keeps all constants that a class
 * ever had with it, so that it would grow with every trace until there is no room.
 */
void inj_put_number(struct cf_output *out, uint32_t number)
{
	uint32_t low = number & UINT16_MAX;

	if (inj_number_stack(number) > 1) {
		/* sipush has a sign */
		cf_put_u1(out, OP_SIPUSH);
		cf_put_u2(out, (uint16_t)((number >> 16) + (low > INT16_MAX)));
		cf_put_u1(out, OP_BIPUSH);
		cf_put_u1(out, 16);
		cf_put_u1(out, OP_ISHL);
	}
	cf_put_u1(out, OP_SIPUSH);
	cf_put_u2(out, (uint16_t)low);
	if (inj_number_stack(number) > 1)
		cf_put_u1(out, OP_IADD);
}

void inj_put_call(struct injecting *m, struct cf_output *out, enum inj_hook hook)
{
	cf_put_u1(out, OP_INVOKESTATIC);
	cf_put_u2(out, inj_hook(&m->constants, hook, m->hooks_class));
}

static void put_arguments(struct injecting *m)
{
	struct cf_text rest = m->parameters;
	uint32_t local = !m->is_static;
	struct cf_type type;

	for (int i = 0; i < CF_ARGS_MAX && cf_type_next(&rest, &type); i++) {
		put_load(&m->enter, INJ_J, m->token);
		put_load(&m->enter, inj_kind(&type), local);
		inj_put_call(m, &m->enter, (enum inj_hook)(INJ_argI + inj_kind(&type)));
		local += cf_type_slots(&type);
	}
}

void inj_put_enter(struct injecting *m)
{
	struct cf_output *out = &m->enter;
	size_t branch;

	out->len = 0;
	inj_put_number(out, m->probe->id);
	inj_put_call(m, out, INJ_enter);
	put_local(out, OP_STORE, OP_STORE_0, INJ_J, m->token);
	m->stored = (uint32_t)out->len;
	if (!m->probe->values || m->parameters.len == 0)
		return;
	put_load(out, INJ_J, m->token);
	cf_put_u1(out, OP_LCONST_0);
	cf_put_u1(out, OP_LCMP);
	branch = out->len;
	cf_put_u1(out, OP_IFEQ);
	cf_put_u2(out, 0);
	put_arguments(m);
	cf_set_u2(out, branch + 1, (uint16_t)(out->len - branch));
}

void inj_put_exit(struct injecting *m)
{
	struct cf_output *out = &m->exit;
	enum inj_hook hook = INJ_exit;

	out->len = 0;
	if (m->probe->values && m->result != INJ_VOID) {
		hook = (enum inj_hook)(INJ_exitI + m->result);
		cf_put_u1(out, m->result == INJ_J || m->result == INJ_D ? OP_DUP2 : OP_DUP);
	}
	put_load(out, INJ_J, m->token);
	inj_put_number(out, m->probe->id);
	inj_put_call(m, out, hook);
}

void inj_put_handler(struct injecting *m)
{
	cf_put_u1(&m->body, OP_DUP);
	put_load(&m->body, INJ_J, m->token);
	inj_put_number(&m->body, m->probe->id);
	inj_put_call(m, &m->body, INJ_fail);
	cf_put_u1(&m->body, OP_ATHROW);
}
