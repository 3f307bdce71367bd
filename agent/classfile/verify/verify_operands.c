/* Checks instructions and operands without following control flow (JVMS 4.9.1). */
#include "classfile/verify/verify_internal.h"

#define TAG(tag) (1u << (tag))

/* Returns the tags of the constants that the instruction accepts, as a set of TAG() bits. */
static uint32_t tags_for(const struct verifier *v, const struct cf_insn *insn)
{
	uint16_t major = v->class->major;
	uint32_t methods = TAG(CF_METHOD);

	if (major >= JAVA_8)
		methods |= TAG(CF_INTERFACE_METHOD);
	switch (insn->opcode) {
	case OP_ldc:
	case OP_ldc_w:
		return TAG(CF_INTEGER) | TAG(CF_FLOAT) | TAG(CF_STRING) | TAG(CF_METHOD_HANDLE) |
		       TAG(CF_METHOD_TYPE) | TAG(CF_DYNAMIC) |
		       (major >= JAVA_5 ? TAG(CF_CLASS) : 0);
	case OP_ldc2_w:
		return TAG(CF_LONG) | TAG(CF_DOUBLE) | TAG(CF_DYNAMIC);
	case OP_getstatic:
	case OP_putstatic:
	case OP_getfield:
	case OP_putfield:
		return TAG(CF_FIELD);
	case OP_invokevirtual:
		return TAG(CF_METHOD);
	case OP_invokespecial:
	case OP_invokestatic:
		return methods;
	case OP_invokeinterface:
		return TAG(CF_INTERFACE_METHOD);
	case OP_invokedynamic:
		return major >= JAVA_7 ? TAG(CF_INVOKE_DYNAMIC) : 0;
	default: /* new, anewarray, checkcast, instanceof, multianewarray */
		return TAG(CF_CLASS);
	}
}

/*
 * Returns true if the size of a dynamic constant fits the instruction: ldc2_w loads two words, ldc
 * and ldc_w load one word (JVMS 6.5.ldc).
 */
static bool ldc_size_matches(const struct verifier *v, const struct cf_insn *insn)
{
	struct cf_ref ref;

	if (cf_tag(v->pool, insn->index) != CF_DYNAMIC)
		return true;
	if (!cf_ref(v->pool, insn->index, &ref) || ref.descriptor.len == 0)
		return false;
	return (ref.descriptor.data[0] == 'J' || ref.descriptor.data[0] == 'D') ==
	       (insn->opcode == OP_ldc2_w);
}

/* If the instruction's Class operand is an array class, checks the array's number of dimensions. */
static bool check_class_operand(struct verifier *v, const struct cf_insn *insn)
{
	struct vtype t = vt_class(v, cf_class_name(v->pool, insn->index));

	switch (insn->opcode) {
	case OP_new:
		return t.dims == 0 || vf_bad(v, "new cannot allocate arrays");
	case OP_anewarray:
		return t.dims < UINT8_MAX || vf_bad(v, "the array has more than 255 dimensions");
	case OP_multianewarray:
		return (insn->value >= 1 && insn->value <= t.dims) ||
		       vf_bad(v, "multianewarray has more dimensions than the array, or none");
	default:
		return true;
	}
}

static bool check_constant(struct verifier *v, const struct cf_insn *insn)
{
	const uint8_t *after = v->code.code + insn->pc + 3;
	uint8_t tag = cf_tag(v->pool, insn->index);

	if (!tag || !(tags_for(v, insn) & TAG(tag)))
		return vf_bad(v, "the instruction's constant is missing or of the wrong kind");
	if (tag == CF_CLASS)
		return check_class_operand(v, insn);
	if (!ldc_size_matches(v, insn))
		return vf_bad(v, "the constant's size does not match the instruction");
	if (insn->operands == CF_OP_INTERFACE && after[1] != 0)
		return vf_bad(v, "the last byte of invokeinterface is not zero");
	if (insn->operands == CF_OP_DYNAMIC && (after[0] != 0 || after[1] != 0))
		return vf_bad(v, "the last bytes of invokedynamic are not zero");
	return true;
}

/*
 * Checks the operands of a tableswitch or lookupswitch.  The padding must be zero in class files
 * before Java 7 (JDK-4639449).  The keys of a lookupswitch must ascend.
 */
static bool check_switch(struct verifier *v, const struct cf_insn *insn)
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
	return opcode == OP_lload || opcode == OP_dload || opcode == OP_lstore ||
	       opcode == OP_dstore;
}

/*
 * Checks iload_0 to aload_3 and istore_0 to astore_3, whose opcodes imply the type and the index.
 */
static bool check_short_local(struct verifier *v, uint8_t opcode)
{
	uint32_t first, kind, index;

	if (!(opcode >= OP_iload_0 && opcode <= OP_aload_3) &&
	    !(opcode >= OP_istore_0 && opcode <= OP_astore_3))
		return true;
	first = opcode <= OP_aload_3 ? OP_iload_0 : OP_istore_0;
	kind = (opcode - first) / 4;
	index = (opcode - first) % 4 + (kind == 1 || kind == 3);
	return index < v->code.max_locals || vf_bad(v, "there is no such local variable");
}

static bool check_operands(struct verifier *v, const struct cf_insn *insn)
{
	switch (insn->operands) {
	case CF_OP_LOCAL:
	case CF_OP_IINC:
		if (insn->opcode == OP_ret && !v->infer)
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
		       vf_bad(v, "newarray has an invalid type");
	case CF_OP_TABLE:
	case CF_OP_LOOKUP:
		return check_switch(v, insn);
	default:
		return check_short_local(v, insn->opcode);
	}
}

bool vf_is_jsr(const struct cf_insn *insn)
{
	return insn->opcode == OP_jsr || insn->opcode == OP_jsr_w;
}

static bool find_insns(struct verifier *v)
{
	struct cf_insn insn;

	for (uint32_t pc = 0; pc < v->code.len; pc += insn.len) {
		v->now.pc = pc;
		if (!cf_insn(v->code.code, v->code.len, pc, &insn))
			return vf_bad(v, "illegal or incomplete instruction");
		v->map[pc] |= MAP_INSN;
		if (insn.opcode == OP_new)
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

static bool mark_target(struct verifier *v, int32_t offset)
{
	int64_t to = (int64_t)v->now.pc + offset;

	if (to < 0 || to >= v->code.len || !(v->map[to] & MAP_INSN))
		return vf_bad(v, "the target is not the start of an instruction");
	v->map[to] |= MAP_TARGET;
	return true;
}

static bool find_targets(struct verifier *v)
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
				v->map[pc + insn.len] |= MAP_TARGET; /* ret jumps there */
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

static bool find_handlers(struct verifier *v)
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
			return vf_bad(v, "an exception handler splits an instruction");
		if (!vt_assignable(v, type, vt_known("java/lang/Throwable")))
			return vf_bad(v, "an exception handler's type is not a Throwable");
		v->map[h.start] |= MAP_RANGE;
		v->map[h.handler] |= MAP_TARGET;
	}
	return true;
}

/*
 * Checks LocalVariableTable, but only if the method is verified by stack maps, because HotSpot does
 * not check the table of a method that it verifies by inference.
 */
static bool check_variables(struct verifier *v)
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
				return vf_bad(v, "a local variable's range splits an instruction");
		}
	}
	return true;
}

bool vf_scan(struct verifier *v)
{
	return find_insns(v) && find_targets(v) && find_handlers(v) && check_variables(v);
}
