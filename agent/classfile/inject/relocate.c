/*
 * Relocates the method's own instructions: computes the new pc of each instruction, and writes the
 * instructions with adjusted jump offsets.
 */
#include "classfile/inject/inject_internal.h"

#include <string.h>

uint32_t inj_label(const struct injection *in, uint32_t pc)
{
	return pc <= in->method.code.len ? in->layout->label[pc] : INJ_NO_PC;
}

uint32_t inj_new_pc(const struct injection *in, uint32_t pc)
{
	const struct cf_code *code = &in->method.code;
	uint32_t label = pc < code->len ? in->layout->label[pc] : INJ_NO_PC;

	if (label != INJ_NO_PC && cf_is_return(code->code[pc]))
		label += (uint32_t)in->added.exit.len;
	return label;
}

/* Returns the number of padding bytes of a switch whose opcode is at this pc. */
static uint32_t padding(uint32_t at)
{
	return (3 - at) & 3;
}

/*
 * If the next insertion is for this pc, removes it from *insertions and sets *code to its code.
 * Returns the length of the code, or 0 if the next insertion is for another pc.
 */
static uint32_t next_inserted(struct cf_bytes *insertions, uint32_t pc, const uint8_t **code)
{
	uint32_t len;

	if (cf_bytes_left(insertions) == 0 || cf_peek_u4(insertions->at) != pc)
		return 0;
	(void)cf_u4(insertions);
	len = cf_u1(insertions);
	*code = cf_take(insertions, len);
	return *code ? len : 0;
}

static uint32_t inserted_len(struct cf_bytes *insertions, uint32_t pc)
{
	uint32_t all = 0, len;
	const uint8_t *code;

	while ((len = next_inserted(insertions, pc, &code)) > 0)
		all += len;
	return all;
}

static struct cf_bytes insertions_of(const struct inj_added *added)
{
	return cf_bytes_init(added->insertions.data,
			     added->insertions.failed ? 0 : added->insertions.len);
}

enum cf_refusal inj_lay_out(struct injection *in)
{
	struct cf_bytes insertions = insertions_of(&in->added);
	uint32_t *label = in->layout->label, len = in->method.code.len;
	uint32_t at = (uint32_t)in->added.enter.len;
	struct cf_insn insn = { 0 };

	memset(label, 0xff, (len + 1) * sizeof(*label)); /* each label is INJ_NO_PC */
	for (uint32_t pc = 0; pc < len; pc += insn.len) {
		if (!cf_insn(in->method.code.code, len, pc, &insn))
			return CF_MALFORMED;
		at += inserted_len(&insertions, pc);
		label[pc] = at;
		if (cf_is_return(insn.opcode)) {
			if (insn.opcode != OP_ireturn + in->method.result)
				return CF_MALFORMED;
			at += (uint32_t)in->added.exit.len;
		}
		if (cf_is_switch(&insn))
			at += padding(at) - padding(pc);
		at += insn.len;
	}
	/* With stack maps, the last instruction must end the flow (JVMS 4.10.1.6). */
	if (in->method.with_maps && !cf_ends_flow(&insn))
		return CF_MALFORMED;
	at += inserted_len(&insertions, len);
	label[len] = at;
	in->layout->end = at;
	return at > INJ_CODE_MAX ? CF_TOO_LONG : CF_HOOKED;
}

/*
 * Computes the new offset of a jump at the old pc `from`.  Returns false if the jump's target is
 * invalid.
 */
static bool relocate_offset(const struct injection *in, uint32_t from, int32_t offset, int32_t *new)
{
	uint32_t to = from + (uint32_t)offset;

	if (to >= in->method.code.len || inj_label(in, to) == INJ_NO_PC)
		return false;
	*new = (int32_t)inj_label(in, to) - (int32_t)inj_new_pc(in, from);
	return true;
}

static enum cf_refusal put_jump(struct injection *in, const struct cf_insn *insn)
{
	int32_t offset;

	if (!relocate_offset(in, insn->pc, insn->value, &offset))
		return CF_MALFORMED;
	cf_put_u1(&in->body, insn->opcode);
	if (insn->operands == CF_OP_BRANCH_W) {
		cf_put_u4(&in->body, (uint32_t)offset);
		return CF_HOOKED;
	}
	if (offset != (int16_t)offset)
		return CF_FAR_JUMP;
	cf_put_u2(&in->body, (uint16_t)offset);
	return CF_HOOKED;
}

static enum cf_refusal put_switch(struct injection *in, const struct cf_insn *insn)
{
	static const uint8_t zeros[3];
	int32_t offset;

	cf_put_u1(&in->body, insn->opcode);
	cf_put(&in->body, zeros, padding(inj_new_pc(in, insn->pc)));
	if (!relocate_offset(in, insn->pc, insn->otherwise, &offset))
		return CF_MALFORMED;
	cf_put_u4(&in->body, (uint32_t)offset);
	if (insn->operands == CF_OP_TABLE)
		cf_put_u4(&in->body, (uint32_t)insn->low);
	cf_put_u4(&in->body,
		  insn->operands == CF_OP_TABLE ? (uint32_t)insn->low + insn->n - 1 : insn->n);
	for (uint32_t i = 0; i < insn->n; i++) {
		struct cf_case c = cf_case(insn, i);

		if (!relocate_offset(in, insn->pc, c.offset, &offset))
			return CF_MALFORMED;
		if (insn->operands == CF_OP_LOOKUP)
			cf_put_u4(&in->body, (uint32_t)c.key);
		cf_put_u4(&in->body, (uint32_t)offset);
	}
	return CF_HOOKED;
}

static bool is_jump(const struct cf_insn *insn)
{
	return insn->operands == CF_OP_BRANCH || insn->operands == CF_OP_BRANCH_W;
}

/*
 * If there are insertions at pc, copies the method's own code from *copied up to pc, writes the
 * inserted code, and sets *copied to pc.
 */
static void put_insertions(struct injection *in, struct cf_bytes *from, uint32_t *copied,
			   uint32_t pc)
{
	const uint8_t *code;
	uint32_t len;

	while ((len = next_inserted(from, pc, &code)) > 0) {
		cf_put(&in->body, in->method.code.code + *copied, pc - *copied);
		*copied = pc;
		cf_put(&in->body, code, len);
	}
}

enum cf_refusal inj_put_code(struct injection *in)
{
	enum cf_refusal refusal = CF_HOOKED;
	struct cf_bytes insertions = insertions_of(&in->added);
	const struct cf_code *code = &in->method.code;
	uint32_t copied = 0;
	struct cf_insn insn;

	cf_put(&in->body, in->added.enter.data, in->added.enter.len);
	for (uint32_t pc = 0; refusal == CF_HOOKED && pc < code->len; pc += insn.len) {
		bool returns, branches;

		/* cannot fail, because inj_lay_out() has checked the code */
		(void)cf_insn(code->code, code->len, pc, &insn);
		put_insertions(in, &insertions, &copied, pc);
		returns = cf_is_return(insn.opcode);
		branches = is_jump(&insn) || cf_is_switch(&insn);
		if (!returns && !branches)
			continue;
		cf_put(&in->body, code->code + copied, pc - copied);
		copied = branches ? pc + insn.len : pc;
		if (returns)
			cf_put(&in->body, in->added.exit.data, in->added.exit.len);
		else
			refusal = is_jump(&insn) ? put_jump(in, &insn) : put_switch(in, &insn);
	}
	put_insertions(in, &insertions, &copied, code->len);
	cf_put(&in->body, code->code + copied, code->len - copied);
	return refusal;
}
