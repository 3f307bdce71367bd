/*
 * The code as it stands (JVMS 4.9.1): is it a row of instructions, do their operands lead to
 * constants, variables and instructions that there are?
 */
#include "classfile/verifying.h"

#define TAG(tag) (1u << (tag))

/* The constants that may stand behind an opcode. */
static uint32_t tags_for(const struct verifying *v, const struct cf_insn *insn)
{
	uint16_t major = v->class->major;
	uint32_t methods = TAG(CF_METHOD);

	if (major >= JAVA_8)
		methods |= TAG(CF_INTERFACE_METHOD);
	switch (insn->opcode) {
	case 0x12: /* ldc */
	case 0x13: /* ldc_w */
		return TAG(CF_INTEGER) | TAG(CF_FLOAT) | TAG(CF_STRING) | TAG(CF_METHOD_HANDLE) |
		       TAG(CF_METHOD_TYPE) | TAG(CF_DYNAMIC) |
		       (major >= JAVA_5 ? TAG(CF_CLASS) : 0);
	case 0x14: /* ldc2_w */
		return TAG(CF_LONG) | TAG(CF_DOUBLE) | TAG(CF_DYNAMIC);
	case 0xb2: /* getstatic to putfield */
	case 0xb3:
	case 0xb4:
	case 0xb5:
		return TAG(CF_FIELD);
	case 0xb6: /* invokevirtual */
		return TAG(CF_METHOD);
	case 0xb7: /* invokespecial */
	case 0xb8: /* invokestatic */
		return methods;
	case 0xb9: /* invokeinterface */
		return TAG(CF_INTERFACE_METHOD);
	case 0xba: /* invokedynamic */
		return major >= JAVA_7 ? TAG(CF_INVOKE_DYNAMIC) : 0;
	default: /* new, anewarray, checkcast, instanceof, multianewarray */
		return TAG(CF_CLASS);
	}
}

/* An ldc of a dynamic constant pushes as many cells as it says (JVMS 6.5.ldc). */
static bool loads_its_size(const struct verifying *v, const struct cf_insn *insn)
{
	struct cf_ref ref;

	if (cf_tag(v->pool, insn->index) != CF_DYNAMIC)
		return true;
	if (!cf_ref(v->pool, insn->index, &ref) || ref.descriptor.len == 0)
		return false;
	return (ref.descriptor.data[0] == 'J' || ref.descriptor.data[0] == 'D') ==
	       (insn->opcode == 0x14);
}

/* The class's name, how many dimensions an array has. */
static bool check_class_operand(struct verifying *v, const struct cf_insn *insn)
{
	struct vtype t = vt_class(v, cf_class_name(v->pool, insn->index));

	switch (insn->opcode) {
	case 0xbb: /* new */
		return t.dims == 0 || vf_bad(v, "new makes no arrays");
	case 0xbd: /* anewarray */
		return t.dims < UINT8_MAX || vf_bad(v, "the array has more than 255 dimensions");
	case 0xc5: /* multianewarray */
		return (insn->value >= 1 && insn->value <= t.dims) ||
		       vf_bad(v, "multianewarray has more dimensions than the array, or none");
	default:
		return true;
	}
}

static bool check_constant(struct verifying *v, const struct cf_insn *insn)
{
	const uint8_t *behind = v->code.code + insn->pc + 3;
	uint8_t tag = cf_tag(v->pool, insn->index);

	if (!tag || !(tags_for(v, insn) & TAG(tag)))
		return vf_bad(v, "the instruction's constant is missing or of the wrong kind");
	if (tag == CF_CLASS)
		return check_class_operand(v, insn);
	if (!loads_its_size(v, insn))
		return vf_bad(v, "the constant's size is not what the instruction loads");
	if (insn->operands == CF_OP_INTERFACE && behind[1] != 0)
		return vf_bad(v, "the last byte of invokeinterface is not zero");
	if (insn->operands == CF_OP_DYNAMIC && (behind[0] != 0 || behind[1] != 0))
		return vf_bad(v, "the last bytes of invokedynamic are not zero");
	return true;
}

/* The padding was to be zero before Java 7 (JDK-4639449); keys rise. */
static bool check_switch(struct verifying *v, const struct cf_insn *insn)
{
	uint32_t padding = (3 - insn->pc) & 3;

	for (uint32_t i = 1; v->class->major < JAVA_7 && i <= padding; i++) {
		if (v->code.code[insn->pc + i] != 0)
			return vf_bad(v, "the padding of a switch is not zero");
	}
	if (insn->operands == CF_OP_TABLE)
		return insn->n > 0 || vf_bad(v, "a tableswitch has no cases");
	for (uint32_t i = 1; i < insn->n; i++) {
		if (cf_case(insn, i - 1).key >= cf_case(insn, i).key)
			return vf_bad(v, "a lookupswitch is not sorted");
	}
	return true;
}

static bool is_wide_local(uint8_t opcode)
{
	return opcode == 0x16 || opcode == 0x18 || opcode == 0x37 || opcode == 0x39;
}

/* iload_0 to dstore_3, whose variable is in the opcode: all four of a type one behind another */
static bool check_short_local(struct verifying *v, uint8_t opcode)
{
	uint32_t first, kind, index;

	if (!(opcode >= 0x1a && opcode <= 0x2d) && !(opcode >= 0x3b && opcode <= 0x4e))
		return true;
	first = opcode <= 0x2d ? 0x1a : 0x3b;
	kind = (opcode - first) / 4;
	index = (opcode - first) % 4 + (kind == 1 || kind == 3);
	return index < v->code.max_locals || vf_bad(v, "there is no such local variable");
}

static bool check_operands(struct verifying *v, const struct cf_insn *insn)
{
	switch (insn->operands) {
	case CF_OP_LOCAL:
	case CF_OP_IINC:
		if (insn->opcode == 0xa9 && !v->infer)
			return vf_bad(v, "this class file version has no ret");
		return (uint32_t)insn->index + is_wide_local(insn->opcode) < v->code.max_locals ||
		       vf_bad(v, "there is no such local variable");
	case CF_OP_LDC:
	case CF_OP_CONSTANT:
	case CF_OP_INTERFACE:
	case CF_OP_DYNAMIC:
	case CF_OP_MULTI:
		return check_constant(v, insn);
	case CF_OP_ARRAY:
		return (insn->value >= 4 && insn->value <= 11) ||
		       vf_bad(v, "newarray has no such type");
	case CF_OP_TABLE:
	case CF_OP_LOOKUP:
		return check_switch(v, insn);
	default:
		return check_short_local(v, insn->opcode);
	}
}

bool vf_is_jsr(const struct cf_insn *insn)
{
	return insn->opcode == 0xa8 || insn->opcode == 0xc9;
}

static bool find_insns(struct verifying *v)
{
	struct cf_insn insn;

	for (uint32_t pc = 0; pc < v->code.len; pc += insn.len) {
		v->now.pc = pc;
		if (!cf_insn(v->code.code, v->code.len, pc, &insn))
			return vf_bad(v, "there is no instruction");
		v->map[pc] |= MAP_INSN;
		if (insn.opcode == 0xbb)
			v->map[pc] |= MAP_NEW;
		if (vf_is_jsr(&insn)) {
			if (!v->infer || v->class->major >= JAVA_7)
				return vf_bad(v, "this class file version has no jsr");
			v->map[pc] |= MAP_JSR;
			v->lenient = true;
		}
		if (!check_operands(v, &insn))
			return false;
	}
	return true;
}

static bool mark_target(struct verifying *v, int32_t offset)
{
	int64_t to = (int64_t)v->now.pc + offset;

	if (to < 0 || to >= v->code.len || !(v->map[to] & MAP_INSN))
		return vf_bad(v, "it leads to where no instruction begins");
	v->map[to] |= MAP_TARGET;
	return true;
}

static bool find_targets(struct verifying *v)
{
	struct cf_insn insn;

	for (uint32_t pc = 0; pc < v->code.len; pc += insn.len) {
		v->now.pc = pc;
		(void)cf_insn(v->code.code, v->code.len, pc, &insn);
		switch (insn.operands) {
		case CF_OP_BRANCH:
		case CF_OP_BRANCH_W:
			if (!mark_target(v, insn.value))
				return false;
			if (vf_is_jsr(&insn) && pc + insn.len < v->code.len)
				v->map[pc + insn.len] |= MAP_TARGET; /* ret comes back */
			break;
		case CF_OP_TABLE:
		case CF_OP_LOOKUP:
			if (!mark_target(v, insn.otherwise))
				return false;
			for (uint32_t i = 0; i < insn.n; i++) {
				if (!mark_target(v, cf_case(&insn, i).offset))
					return false;
			}
			break;
		default:
			break;
		}
	}
	return true;
}

static bool find_handlers(struct verifying *v)
{
	for (uint16_t i = 0; i < v->code.n_handlers; i++) {
		struct cf_handler h = cf_handler(&v->code, i);
		struct vtype type = vt_known("java/lang/Throwable");

		if (h.type != 0 && cf_tag(v->pool, h.type) == CF_CLASS)
			type = vt_class(v, cf_class_name(v->pool, h.type));
		v->now.pc = h.start;
		if (h.start >= v->code.len || h.end > v->code.len || h.handler >= v->code.len ||
		    h.start >= h.end || !(v->map[h.start] & MAP_INSN) ||
		    !(v->map[h.handler] & MAP_INSN) ||
		    (h.end < v->code.len && !(v->map[h.end] & MAP_INSN)))
			return vf_bad(v, "an exception handler is not made of whole instructions");
		if (!vt_assignable(v, type, vt_known("java/lang/Throwable")))
			return vf_bad(v, "what an exception handler catches is not Throwable");
		v->map[h.start] |= MAP_RANGE;
		v->map[h.handler] |= MAP_TARGET;
	}
	return true;
}

/* Only the verifier with stack maps looks at them. */
static bool check_variables(struct verifying *v)
{
	struct cf_attributes list = v->code.attributes;
	struct cf_attribute a;

	while (!v->infer && cf_next_attribute(&list, &a)) {
		if (!cf_text_is(a.name, "LocalVariableTable"))
			continue;
		for (uint32_t at = 2; at + 10 <= a.len; at += 10) {
			uint32_t start = cf_peek_u2(a.data + at);
			uint32_t end = start + cf_peek_u2(a.data + at + 2);

			if (end > v->code.len || start >= v->code.len ||
			    !(v->map[start] & MAP_INSN) ||
			    (end < v->code.len && !(v->map[end] & MAP_INSN)))
				return vf_bad(v, "a local variable does not live from instruction "
						 "to instruction");
		}
	}
	return true;
}

bool vf_scan(struct verifying *v)
{
	return find_insns(v) && find_targets(v) && find_handlers(v) && check_variables(v);
}
