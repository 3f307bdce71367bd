/* Where each instruction goes, and the method's own code with its jumps led there. */
#include "classfile/injecting.h"

#include <string.h>

#define OP_IRETURN 0xac /* then lreturn, freturn, dreturn, areturn, return */

uint32_t inj_label(const struct injecting *m, uint32_t pc)
{
	return pc <= m->code.len ? m->room->label[pc] : INJ_NOWHERE;
}

uint32_t inj_place(const struct injecting *m, uint32_t pc)
{
	uint32_t label = pc < m->code.len ? m->room->label[pc] : INJ_NOWHERE;

	if (label != INJ_NOWHERE && inj_is_return(m->code.code[pc]))
		label += (uint32_t)m->exit.len;
	return label;
}

/* Before a switch's first word, from behind its opcode. */
static uint32_t padding(uint32_t at)
{
	return (3 - at) & 3;
}

/* What is put in front of an instruction, one piece after the other: its length, or 0. */
static uint32_t next_inserted(struct cf_bytes *pieces, uint32_t pc, const uint8_t **code)
{
	uint32_t len;

	if (cf_bytes_left(pieces) == 0 || cf_peek_u4(pieces->at) != pc)
		return 0;
	(void)cf_u4(pieces);
	len = cf_u1(pieces);
	*code = cf_take(pieces, len);
	return *code ? len : 0;
}

static uint32_t inserted_len(struct cf_bytes *pieces, uint32_t pc)
{
	uint32_t all = 0, len;
	const uint8_t *code;

	while ((len = next_inserted(pieces, pc, &code)) > 0)
		all += len;
	return all;
}

static struct cf_bytes inserted(const struct injecting *m)
{
	return cf_bytes_init(m->inserted.data, m->inserted.failed ? 0 : m->inserted.len);
}

enum cf_refusal inj_lay_out(struct injecting *m)
{
	struct cf_bytes pieces = inserted(m);
	uint32_t *label = m->room->label, len = m->code.len;
	uint32_t at = (uint32_t)m->enter.len;
	struct cf_insn insn = { 0 };

	memset(label, 0xff, (len + 1) * sizeof(*label)); /* INJ_NOWHERE */
	for (uint32_t pc = 0; pc < len; pc += insn.len) {
		if (!cf_insn(m->code.code, len, pc, &insn))
			return CF_MALFORMED;
		at += inserted_len(&pieces, pc);
		label[pc] = at;
		if (inj_is_return(insn.opcode)) {
			if (insn.opcode != OP_IRETURN + m->result)
				return CF_MALFORMED;
			at += (uint32_t)m->exit.len;
		}
		if (cf_is_switch(&insn))
			at += padding(at) - padding(pc);
		at += insn.len;
	}
	/* By stack maps there is no way to say that the end is not come to. */
	if (m->with_maps && !cf_ends_flow(&insn))
		return CF_MALFORMED;
	at += inserted_len(&pieces, len);
	label[len] = at;
	m->end = at;
	return at > INJ_CODE_MAX ? CF_TOO_LONG : CF_HOOKED;
}

/* What an instruction at `from` has to jump to come where its jump by `offset` led. */
static bool led(const struct injecting *m, uint32_t from, int32_t offset, int32_t *new)
{
	uint32_t to = from + (uint32_t)offset;

	if (to >= m->code.len || inj_label(m, to) == INJ_NOWHERE)
		return false;
	*new = (int32_t)inj_label(m, to) - (int32_t)inj_place(m, from);
	return true;
}

static enum cf_refusal put_jump(struct injecting *m, const struct cf_insn *insn)
{
	int32_t offset;

	if (!led(m, insn->pc, insn->value, &offset))
		return CF_MALFORMED;
	cf_put_u1(&m->body, insn->opcode);
	if (insn->operands == CF_OP_BRANCH_W) {
		cf_put_u4(&m->body, (uint32_t)offset);
		return CF_HOOKED;
	}
	if (offset != (int16_t)offset)
		return CF_FAR_JUMP;
	cf_put_u2(&m->body, (uint16_t)offset);
	return CF_HOOKED;
}

static enum cf_refusal put_switch(struct injecting *m, const struct cf_insn *insn)
{
	static const uint8_t zeros[3];
	int32_t offset;

	cf_put_u1(&m->body, insn->opcode);
	cf_put(&m->body, zeros, padding(inj_place(m, insn->pc)));
	if (!led(m, insn->pc, insn->otherwise, &offset))
		return CF_MALFORMED;
	cf_put_u4(&m->body, (uint32_t)offset);
	if (insn->operands == CF_OP_TABLE)
		cf_put_u4(&m->body, (uint32_t)insn->low);
	cf_put_u4(&m->body, insn->operands == CF_OP_TABLE ? (uint32_t)insn->low + insn->n - 1
							   : insn->n);
	for (uint32_t i = 0; i < insn->n; i++) {
		struct cf_case c = cf_case(insn, i);

		if (!led(m, insn->pc, c.offset, &offset))
			return CF_MALFORMED;
		if (insn->operands == CF_OP_LOOKUP)
			cf_put_u4(&m->body, (uint32_t)c.key);
		cf_put_u4(&m->body, (uint32_t)offset);
	}
	return CF_HOOKED;
}

static bool is_jump(const struct cf_insn *insn)
{
	return insn->operands == CF_OP_BRANCH || insn->operands == CF_OP_BRANCH_W;
}

/* The method's own code up to an instruction, and what is put in front of that. */
static void put_up_to(struct injecting *m, struct cf_bytes *pieces, uint32_t *copied, uint32_t pc)
{
	const uint8_t *code;
	uint32_t len;

	while ((len = next_inserted(pieces, pc, &code)) > 0) {
		cf_put(&m->body, m->code.code + *copied, pc - *copied);
		*copied = pc;
		cf_put(&m->body, code, len);
	}
}

enum cf_refusal inj_put_code(struct injecting *m)
{
	enum cf_refusal refusal = CF_HOOKED;
	struct cf_bytes pieces = inserted(m);
	uint32_t copied = 0;
	struct cf_insn insn;

	cf_put(&m->body, m->enter.data, m->enter.len);
	for (uint32_t pc = 0; refusal == CF_HOOKED && pc < m->code.len; pc += insn.len) {
		bool returns, leads;

		(void)cf_insn(m->code.code, m->code.len, pc, &insn); /* was looked at before */
		put_up_to(m, &pieces, &copied, pc);
		returns = inj_is_return(insn.opcode);
		leads = is_jump(&insn) || cf_is_switch(&insn);
		if (!returns && !leads)
			continue;
		cf_put(&m->body, m->code.code + copied, pc - copied);
		copied = leads ? pc + insn.len : pc;
		if (returns)
			cf_put(&m->body, m->exit.data, m->exit.len);
		else
			refusal = is_jump(&insn) ? put_jump(m, &insn) : put_switch(m, &insn);
	}
	put_up_to(m, &pieces, &copied, m->code.len);
	cf_put(&m->body, m->code.code + copied, m->code.len - copied);
	return refusal;
}
