/* Writes the code that is inserted into a method. */
#include "classfile/inject/inject_internal.h"

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

/* Writes a load or store of a local variable in its shortest form. */
static void put_local(struct cf_output *out, uint8_t opcode, uint8_t opcode_0, enum inj_kind kind,
		      uint32_t index)
{
	if (index <= 3) {
		cf_put_u1(out, (uint8_t)(opcode_0 + 4 * (uint32_t)kind + index));
		return;
	}
	if (index > UINT8_MAX)
		cf_put_u1(out, OP_wide);
	cf_put_u1(out, (uint8_t)(opcode + kind));
	if (index > UINT8_MAX)
		cf_put_u2(out, (uint16_t)index);
	else
		cf_put_u1(out, (uint8_t)index);
}

static void put_load(struct cf_output *out, enum inj_kind kind, uint32_t index)
{
	put_local(out, OP_iload, OP_iload_0, kind, index);
}

uint32_t inj_number_stack(uint32_t number)
{
	return number > INT16_MAX ? 2 : 1;
}

/*
 * Writes instructions that push `number`, which is an id.  Does not add the id to the constant
 * pool: ids are never reused, and HotSpot retains all constants that a class ever had, so the
 * constant pool would grow with every trace until it is full.
 */
void inj_put_number(struct cf_output *out, uint32_t number)
{
	uint32_t low = number & UINT16_MAX;

	if (inj_number_stack(number) > 1) {
		/*
		 * sipush sign-extends the lower half: if its highest bit is set, iadd subtracts 1
		 * from the upper half, so push the upper half plus 1.
		 */
		cf_put_u1(out, OP_sipush);
		cf_put_u2(out, (uint16_t)((number >> 16) + (low > INT16_MAX)));
		cf_put_u1(out, OP_bipush);
		cf_put_u1(out, 16);
		cf_put_u1(out, OP_ishl);
	}
	cf_put_u1(out, OP_sipush);
	cf_put_u2(out, (uint16_t)low);
	if (inj_number_stack(number) > 1)
		cf_put_u1(out, OP_iadd);
}

void inj_put_call(struct injection *in, struct cf_output *out, enum inj_hook hook)
{
	cf_put_u1(out, OP_invokestatic);
	cf_put_u2(out, inj_hook(&in->constants, hook, in->hooks_class));
}

static void put_arguments(struct injection *in)
{
	struct cf_text rest = in->method.parameters;
	struct cf_output *out = &in->added.enter;
	uint32_t local = !in->method.is_static;
	struct cf_type type;

	for (int i = 0; i < CF_ARGS_MAX && cf_type_next(&rest, &type); i++) {
		put_load(out, INJ_J, in->added.token);
		put_load(out, inj_kind(&type), local);
		inj_put_call(in, out, (enum inj_hook)(INJ_argI + inj_kind(&type)));
		local += cf_type_slots(&type);
	}
}

void inj_put_enter(struct injection *in)
{
	struct cf_output *out = &in->added.enter;
	size_t branch;

	out->len = 0;
	inj_put_number(out, in->probe->id);
	inj_put_call(in, out, INJ_enter);
	put_local(out, OP_istore, OP_istore_0, INJ_J, in->added.token);
	in->added.stored = (uint32_t)out->len;
	if (!in->probe->values || in->method.parameters.len == 0)
		return;
	put_load(out, INJ_J, in->added.token);
	cf_put_u1(out, OP_lconst_0);
	cf_put_u1(out, OP_lcmp);
	branch = out->len;
	cf_put_u1(out, OP_ifeq);
	cf_put_u2(out, 0);
	put_arguments(in);
	cf_set_u2(out, branch + 1, (uint16_t)(out->len - branch));
}

void inj_put_exit(struct injection *in)
{
	struct cf_output *out = &in->added.exit;
	enum inj_kind result = in->method.result;
	enum inj_hook hook = INJ_exit;

	out->len = 0;
	if (in->probe->values && result != INJ_VOID) {
		hook = (enum inj_hook)(INJ_exitI + result);
		cf_put_u1(out, result == INJ_J || result == INJ_D ? OP_dup2 : OP_dup);
	}
	put_load(out, INJ_J, in->added.token);
	inj_put_number(out, in->probe->id);
	inj_put_call(in, out, hook);
}

void inj_put_handler(struct injection *in)
{
	struct cf_output *out = &in->body;

	cf_put_u1(out, OP_dup);
	put_load(out, INJ_J, in->added.token);
	inj_put_number(out, in->probe->id);
	inj_put_call(in, out, INJ_fail);
	cf_put_u1(out, OP_athrow);
}
