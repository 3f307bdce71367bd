#include "classfile/code.h"

#include <stddef.h>

bool cf_code(const struct cf_member *method, struct cf_code *code)
{
	struct cf_attribute attribute;
	struct cf_bytes bytes;
	struct cf_code c;

	if (!cf_find_attribute(method->attributes, "Code", &attribute))
		return false;
	bytes = cf_bytes_init(attribute.data, attribute.len);
	c.max_stack = cf_u2(&bytes);
	c.max_locals = cf_u2(&bytes);
	c.len = cf_u4(&bytes);
	c.code = cf_take(&bytes, c.len);
	c.n_handlers = cf_u2(&bytes);
	c.handlers = cf_take(&bytes, (size_t)c.n_handlers * 8);
	c.attributes = (struct cf_attributes){
		.pool = method->attributes.pool,
		.left = cf_u2(&bytes),
	};
	c.attributes.bytes = bytes;
	if (bytes.failed)
		return false;
	*code = c;
	return true;
}

struct cf_handler cf_handler(const struct cf_code *code, uint16_t i)
{
	const uint8_t *at = code->handlers + (size_t)i * 8;

	return (struct cf_handler){
		.start = cf_peek_u2(at),
		.end = cf_peek_u2(at + 2),
		.handler = cf_peek_u2(at + 4),
		.type = cf_peek_u2(at + 6),
	};
}

enum cf_operands cf_operands(uint8_t opcode)
{
	static const uint8_t table[256] = {
#define ROW(code, name, operands) [code] = CF_OP_##operands,
#include "classfile/opcodes.def"
#undef ROW
	};

	return (enum cf_operands)table[opcode];
}

bool cf_is_switch(const struct cf_insn *insn)
{
	return insn->operands == CF_OP_TABLE || insn->operands == CF_OP_LOOKUP;
}

/* Reads the operands of a switch: 4-byte words, aligned relative to the start of the code. */
static void read_switch(struct cf_insn *insn, struct cf_bytes *bytes)
{
	(void)cf_take(bytes, (3 - insn->pc) & 3);
	insn->otherwise = (int32_t)cf_u4(bytes);
	if (insn->operands == CF_OP_TABLE) {
		int32_t low = (int32_t)cf_u4(bytes), high = (int32_t)cf_u4(bytes);
		int64_t n = (int64_t)high - low + 1;

		insn->low = low;
		if (n < 0 || n > UINT16_MAX)
			bytes->failed = true; /* no valid range, or more cases than fit into code */
		else
			insn->n = (uint32_t)n;
		insn->cases = cf_take(bytes, (size_t)insn->n * 4);
		return;
	}
	insn->n = cf_u4(bytes);
	if (insn->n > UINT16_MAX)
		bytes->failed = true;
	insn->cases = cf_take(bytes, (size_t)insn->n * 8);
}

static void read_operands(struct cf_insn *insn, struct cf_bytes *bytes)
{
	switch (insn->operands) {
	case CF_OP_NONE:
		break;
	case CF_OP_BYTE:
		/* NOLINTNEXTLINE(bugprone-signed-char-misuse): the sign is extended (JVMS 6.5) */
		insn->value = (int8_t)cf_u1(bytes);
		break;
	case CF_OP_SHORT:
	case CF_OP_BRANCH:
		insn->value = (int16_t)cf_u2(bytes);
		break;
	case CF_OP_BRANCH_W:
		insn->value = (int32_t)cf_u4(bytes);
		break;
	case CF_OP_LOCAL:
		insn->index = insn->wide ? cf_u2(bytes) : cf_u1(bytes);
		break;
	case CF_OP_IINC:
		insn->index = insn->wide ? cf_u2(bytes) : cf_u1(bytes);
		insn->value = insn->wide ? (int16_t)cf_u2(bytes) : (int8_t)cf_u1(bytes);
		break;
	case CF_OP_LDC:
		insn->index = cf_u1(bytes);
		break;
	case CF_OP_CONSTANT:
		insn->index = cf_u2(bytes);
		break;
	case CF_OP_INTERFACE:
		insn->index = cf_u2(bytes);
		insn->value = cf_u1(bytes);
		(void)cf_u1(bytes);
		break;
	case CF_OP_DYNAMIC:
		insn->index = cf_u2(bytes);
		(void)cf_u2(bytes);
		break;
	case CF_OP_ARRAY:
		insn->value = cf_u1(bytes);
		break;
	case CF_OP_MULTI:
		insn->index = cf_u2(bytes);
		insn->value = cf_u1(bytes);
		break;
	case CF_OP_TABLE:
	case CF_OP_LOOKUP:
		read_switch(insn, bytes);
		break;
	case CF_OP_ILLEGAL:
	case CF_OP_WIDE:
		bytes->failed = true;
		break;
	}
}

bool cf_insn(const uint8_t *code, uint32_t len, uint32_t pc, struct cf_insn *insn)
{
	struct cf_bytes bytes;

	if (pc >= len)
		return false;
	bytes = cf_bytes_init(code + pc, len - pc);
	*insn = (struct cf_insn){ .pc = pc, .opcode = cf_u1(&bytes) };
	insn->operands = cf_operands(insn->opcode);
	if (insn->operands == CF_OP_WIDE) {
		insn->wide = true;
		insn->opcode = cf_u1(&bytes);
		insn->operands = cf_operands(insn->opcode);
		if (insn->operands != CF_OP_LOCAL && insn->operands != CF_OP_IINC)
			return false;
	}
	read_operands(insn, &bytes);
	insn->len = (uint32_t)(bytes.at - code) - pc;
	return !bytes.failed;
}

struct cf_case cf_case(const struct cf_insn *insn, uint32_t i)
{
	const uint8_t *at;

	if (insn->operands == CF_OP_TABLE)
		return (struct cf_case){ (int32_t)((uint32_t)insn->low + i),
					 (int32_t)cf_peek_u4(insn->cases + (size_t)i * 4) };
	at = insn->cases + (size_t)i * 8;
	return (struct cf_case){ (int32_t)cf_peek_u4(at), (int32_t)cf_peek_u4(at + 4) };
}

bool cf_is_return(uint8_t opcode)
{
	return opcode >= OP_ireturn && opcode <= OP_return;
}

bool cf_ends_flow(const struct cf_insn *insn)
{
	switch (insn->opcode) {
	case OP_goto:
	case OP_ret:
	case OP_athrow:
	case OP_goto_w:
		return true;
	default:
		return cf_is_switch(insn) || cf_is_return(insn->opcode);
	}
}
