#include "render/class/javap_insn.h"

#include <inttypes.h>

#include "render/class/javap_pool.h"

/*
 * Returns the element type that the operand of the instruction `newarray` means (JVMS table
 * 6.5.newarray-A).
 */
static const char *array_type(int32_t code)
{
	static const char *const types[] = { "boolean", "char",	 "float", "double",
					     "byte",	"short", "int",	  "long" };

	return code >= 4 && code < 12 ? types[code - 4] : "???";
}

static bool has_constant(const struct cf_insn *insn)
{
	switch (insn->operands) {
	case CF_OP_LDC:
	case CF_OP_CONSTANT:
	case CF_OP_INTERFACE:
	case CF_OP_DYNAMIC:
	case CF_OP_MULTI:
		return true;
	default:
		return false;
	}
}

static int64_t target(const struct cf_insn *insn, int32_t offset)
{
	return (int64_t)insn->pc + offset;
}

/* Appends the operands of an instruction, without the cases of a switch. */
static void add_operands(struct buf *out, const struct cf_insn *insn)
{
	switch (insn->operands) {
	case CF_OP_BYTE:
	case CF_OP_SHORT:
		buf_addf(out, "%" PRId32, insn->value);
		break;
	case CF_OP_LOCAL:
		buf_addf(out, "%u", insn->index);
		break;
	case CF_OP_IINC:
		buf_addf(out, "%u, %" PRId32, insn->index, insn->value);
		break;
	case CF_OP_LDC:
	case CF_OP_CONSTANT:
		buf_addf(out, "#%u", insn->index);
		break;
	case CF_OP_INTERFACE:
	case CF_OP_DYNAMIC:
	case CF_OP_MULTI:
		buf_addf(out, "#%u,  %" PRId32, insn->index, insn->value);
		break;
	case CF_OP_ARRAY:
		buf_addf(out, " %s", array_type(insn->value));
		break;
	case CF_OP_BRANCH:
	case CF_OP_BRANCH_W:
		buf_addf(out, "%" PRId64, target(insn, insn->value));
		break;
	default:
		break;
	}
}

static void add_name(struct buf *out, const struct cf_insn *insn, int width)
{
	_cleanup_buf_ struct buf name = BUF_INIT;

	buf_addf(&name, "%s%s", cf_mnemonic(insn->opcode), insn->wide ? "_w" : "");
	buf_addf(out, "%-*s ", width, buf_str(&name));
}

/*
 * Appends the text before the cases of a switch: the number of cases of a lookupswitch, or the
 * range of a tableswitch.
 */
static void add_switch_head(struct buf *out, const struct cf_insn *insn)
{
	if (insn->operands == CF_OP_LOOKUP)
		buf_addf(out, "{ // %" PRIu32, insn->n);
	else
		buf_addf(out, "{ // %" PRId32 " to %" PRId64, insn->low,
			 (int64_t)insn->low + insn->n - 1);
}

static void print_switch(struct javap_lines *l, const struct cf_insn *insn)
{
	add_switch_head(&l->line, insn);
	javap_end_line(l);
	for (uint32_t i = 0; i < insn->n; i++) {
		struct cf_case c = cf_case(insn, i);

		buf_addf(&l->line, "%22" PRId32 ": %" PRId64, c.key, target(insn, c.offset));
		javap_end_line(l);
	}
	buf_addf(&l->line, "%22s: %" PRId64, "default", target(insn, insn->otherwise));
	javap_end_line(l);
	buf_addf(&l->line, "%11s", "}");
	javap_end_line(l);
}

void javap_insn(struct javap_lines *l, const struct cf_insn *insn, const struct cf_pool *pool,
		struct cf_text class)
{
	buf_addf(&l->line, "    %4" PRIu32 ": ", insn->pc);
	add_name(&l->line, insn, 13);
	if (cf_is_switch(insn)) {
		print_switch(l, insn);
		return;
	}
	add_operands(&l->line, insn);
	if (has_constant(insn)) {
		javap_tab(l, 44);
		buf_adds(&l->line, "// ");
		javap_constant(&l->line, pool, insn->index, class);
	}
	javap_end_line(l);
}

static void add_switch(struct buf *out, const struct cf_insn *insn)
{
	buf_adds(out, "{ ");
	for (uint32_t i = 0; i < insn->n; i++) {
		struct cf_case c = cf_case(insn, i);

		buf_addf(out, "%" PRId32 ": %" PRId64 ", ", c.key, target(insn, c.offset));
	}
	buf_addf(out, "default: %" PRId64 " }", target(insn, insn->otherwise));
}

void javap_insn_text(struct buf *out, const struct cf_insn *insn, const struct cf_pool *pool,
		     struct cf_text class)
{
	add_name(out, insn, 0);
	if (cf_is_switch(insn)) {
		add_switch(out, insn);
		return;
	}
	add_operands(out, insn);
	if (insn->operands == CF_OP_NONE)
		/* Remove the space after a mnemonic without operands. */
		out->data[--out->len] = '\0';
	if (has_constant(insn)) {
		buf_adds(out, " // ");
		javap_constant(out, pool, insn->index, class);
	}
}
