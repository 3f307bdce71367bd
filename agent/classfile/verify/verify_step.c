/* Applies an instruction to the current types (JVMS 4.10.1.9). */
#include "classfile/verify/verify_internal.h"

#include <string.h>

static bool is_array_of(struct vtype t, char letter)
{
	if (t.dims == 0)
		return false;
	switch (letter) {
	case 'y':
		return true;
	case 'a':
		return t.kind == V_OBJECT || t.dims > 1;
	case 'b':
		return t.kind == V_PRIMS && t.dims == 1 && (t.at == 'B' || t.at == 'Z');
	default:
		return t.kind == V_PRIMS && t.dims == 1 && t.at == (uint32_t)(letter - 'a' + 'A');
	}
}

static bool is_uninit(struct vtype t)
{
	return t.kind == V_UNINIT || t.kind == V_UNINIT_THIS;
}

/* Returns true if the type matches `letter`, which is a letter of the array `effects` below. */
static bool matches(const struct verifier *v, struct vtype t, char letter)
{
	if (t.kind == V_ANY)
		return true;
	switch (letter) {
	case 'A':
		return vt_is_reference(t) || is_uninit(t);
	case 'M':
		return vt_is_reference(t) || (!v->infer && is_uninit(t));
	case 'O':
		return vt_is_reference(t);
	case 'T':
		return vt_assignable(v, t, vt_known("java/lang/Throwable"));
	default:
		return t.kind == V_NULL || is_array_of(t, letter);
	}
}

static bool pop_letter(struct verifier *v, char letter, struct vtype *type)
{
	switch (letter) {
	case 'I':
		return vf_pop_as(v, vt_kind(V_INT));
	case 'F':
		return vf_pop_as(v, vt_kind(V_FLOAT));
	case 'L':
		return vf_pop_as(v, vt_kind(V_LONG));
	case 'D':
		return vf_pop_as(v, vt_kind(V_DOUBLE));
	default:
		if (!vf_pop(v, type))
			return false;
		return matches(v, *type, letter) || vf_bad(v, "wrong type on the stack");
	}
}

static bool push_letter(struct verifier *v, char letter)
{
	switch (letter) {
	case 'I':
		return vf_push(v, vt_kind(V_INT));
	case 'F':
		return vf_push(v, vt_kind(V_FLOAT));
	case 'L':
		return vf_push(v, vt_kind(V_LONG));
	case 'D':
		return vf_push(v, vt_kind(V_DOUBLE));
	default:
		return vf_push(v, vt_kind(V_NULL));
	}
}

/*
 * Indexed by opcode: a letter for each type that the instruction pops, the top of the stack last;
 * then '>'; then a letter for each type that it pushes.  An empty string means that vf_step() has
 * code of its own for the instruction.
 *
 * I int, L long, F float, D double, N null
 * A  a reference, maybe uninitialised
 * M  like A if the verifier uses stack maps; like O if it infers types
 * O  an initialised reference
 * T  a Throwable
 * i j f d c s a  an array of int, long, float, double, char, short, references
 * b  an array of byte or of boolean
 * y  any array
 */
#define EFFECT_LEN 5
/* clang-format off */
static const char effects[][EFFECT_LEN] = {
	/* opcodes 0 to 17: nop to dconst_1, bipush, sipush */
	">", ">N", ">I", ">I", ">I", ">I", ">I", ">I", ">I", ">L", ">L", ">F", ">F", ">F", ">D",
	">D", ">I", ">I",
	[OP_iaload] = /* iaload to saload */
	"iI>I", "jI>L", "fI>F", "dI>D", "", "bI>I", "cI>I", "sI>I",
	[OP_iastore] = /* iastore to sastore */
	"iII>", "jIL>", "fIF>", "dID>", "aIO>", "bII>", "cII>", "sII>",
	[OP_iadd] = /* iadd to drem */
	"II>I", "LL>L", "FF>F", "DD>D", "II>I", "LL>L", "FF>F", "DD>D", "II>I", "LL>L", "FF>F",
	"DD>D", "II>I", "LL>L", "FF>F", "DD>D", "II>I", "LL>L", "FF>F", "DD>D",
	/* ineg to dneg, the shifts, iand to lxor */
	"I>I", "L>L", "F>F", "D>D", "II>I", "LI>L", "II>I", "LI>L", "II>I", "LI>L", "II>I",
	"LL>L", "II>I", "LL>L", "II>I", "LL>L",
	[OP_i2l] = /* i2l to i2s */
	"I>L", "I>F", "I>D", "L>I", "L>F", "L>D", "F>I", "F>L", "F>D", "D>I", "D>L", "D>F",
	"I>I", "I>I", "I>I",
	/* lcmp to dcmpg, ifeq to goto */
	"LL>I", "FF>I", "FF>I", "DD>I", "DD>I", "I>", "I>", "I>", "I>", "I>", "I>", "II>", "II>",
	"II>", "II>", "II>", "II>", "MM>", "MM>", ">",
	[OP_tableswitch] = /* tableswitch to lookupswitch */
	"I>", "I>",
	[OP_arraylength] = /* arraylength to monitorexit */
	"y>I", "T>", "", "O>I", "M>", "M>",
	[OP_ifnull] = /* ifnull to jsr_w */
	"A>", "A>", ">", "",
};
/* clang-format on */

static bool apply_effect(struct verifier *v, const char *effect)
{
	const char *middle = effect + strcspn(effect, ">");
	struct vtype unused;

	for (const char *s = middle; s > effect; s--) {
		if (!pop_letter(v, s[-1], &unused))
			return false;
	}
	return !middle[1] || push_letter(v, middle[1]);
}

/*
 * Sets local variable i to `type`.  If variable i held one half of a long or double, the variable
 * with the other half becomes V_TOP.
 */
static void set_local(struct verifier *v, uint32_t i, struct vtype type)
{
	struct vtype *locals = v->now.locals;

	if (vt_is_wide(locals[i]) && i + 1 < v->code.max_locals)
		locals[i + 1] = vt_kind(V_TOP);
	if (vt_is_second(locals[i]) && i > 0)
		locals[i - 1] = vt_kind(V_TOP);
	locals[i] = type;
	v->changed = true;
}

/* The types of iload, lload, …, each of which has four short forms such as iload_0. */
static const uint8_t local_kinds[] = { V_INT, V_LONG, V_FLOAT, V_DOUBLE };
#define KIND_A 4

static bool load(struct verifier *v, uint32_t kind, uint32_t i)
{
	struct vtype t = v->now.locals[i], wanted;

	if (kind == KIND_A)
		return matches(v, t, 'A') ? vf_push(v, t)
					  : vf_bad(v, "the local variable is not a reference");
	wanted = vt_kind(local_kinds[kind]);
	if (!vt_assignable(v, t, wanted) ||
	    (vt_is_wide(wanted) && !vt_assignable(v, v->now.locals[i + 1], vt_second(wanted))))
		return vf_bad(v, "the local variable has the wrong type");
	return vf_push(v, wanted);
}

static bool store(struct verifier *v, uint32_t kind, uint32_t i)
{
	struct vtype type;

	if (kind != KIND_A) {
		type = vt_kind(local_kinds[kind]);
		if (!vf_pop_as(v, type))
			return false;
	} else if (!vf_pop(v, &type)) {
		return false;
	} else if (type.kind != V_ADDRESS && !matches(v, type, 'A')) {
		return vf_bad(v, "wrong type on the stack");
	}
	set_local(v, i, type);
	if (vt_is_wide(type))
		set_local(v, i + 1, vt_second(type));
	return true;
}

static bool load_element(struct verifier *v)
{
	struct vtype array;

	if (!vf_pop_as(v, vt_kind(V_INT)) || !pop_letter(v, 'a', &array))
		return false;
	if (array.kind == V_OBJECT || array.kind == V_PRIMS)
		array.dims--;
	return vf_push(v, array);
}

static bool load_constant(struct verifier *v, uint16_t index)
{
	struct cf_ref ref;
	struct cf_type type;

	switch (cf_tag(v->pool, index)) {
	case CF_INTEGER:
		return vf_push(v, vt_kind(V_INT));
	case CF_FLOAT:
		return vf_push(v, vt_kind(V_FLOAT));
	case CF_LONG:
		return vf_push(v, vt_kind(V_LONG));
	case CF_DOUBLE:
		return vf_push(v, vt_kind(V_DOUBLE));
	case CF_STRING:
		return vf_push(v, vt_known("java/lang/String"));
	case CF_CLASS:
		return vf_push(v, vt_known("java/lang/Class"));
	case CF_METHOD_HANDLE:
		return vf_push(v, vt_known("java/lang/invoke/MethodHandle"));
	case CF_METHOD_TYPE:
		return vf_push(v, vt_known("java/lang/invoke/MethodType"));
	default:
		if (!cf_ref(v->pool, index, &ref) || !cf_type_next(&ref.descriptor, &type))
			return vf_bad(v, "the constant has no type");
		return vf_push(v, vt_field(v, &type));
	}
}

/*
 * Handles the instruction `new`.  In a loop, the uninitialised objects that the same instruction
 * allocated earlier become unusable (JVMS 6.5.new).
 */
static bool step_new(struct verifier *v)
{
	struct vtype created = { v->now.pc, 0, 0, V_UNINIT };

	for (uint32_t i = 0; i < v->now.n_stack; i++) {
		if (vt_same(v, v->now.stack[i], created))
			return vf_bad(v, "an object of this new is still uninitialised");
	}
	for (uint32_t i = 0; i < v->code.max_locals; i++) {
		if (vt_same(v, v->now.locals[i], created))
			set_local(v, i, vt_kind(V_TOP));
	}
	return vf_spend(v, v->code.max_locals + v->now.n_stack) && vf_push(v, created);
}

/* Handles newarray, anewarray and multianewarray. */
static bool step_array(struct verifier *v, const struct cf_insn *insn)
{
	static const char letters[] = "ZCFDBSIJ"; /* types 4 to 11 (JVMS table 6.5.newarray-A) */
	int32_t n = insn->operands == CF_OP_MULTI ? insn->value : 1;
	struct vtype type;

	while (n-- > 0) {
		if (!vf_pop_as(v, vt_kind(V_INT)))
			return false;
	}
	if (insn->operands == CF_OP_ARRAY) {
		type = (struct vtype){ (uint8_t)letters[insn->value - 4], 0, 1, V_PRIMS };
	} else {
		type = vt_class(v, cf_class_name(v->pool, insn->index));
		type.dims = (uint8_t)(type.dims + (insn->operands != CF_OP_MULTI));
	}
	return vf_push(v, type);
}

static bool step_cast(struct verifier *v, const struct cf_insn *insn)
{
	struct vtype from;

	return pop_letter(v, 'O', &from) &&
	       vf_push(v, vt_class(v, cf_class_name(v->pool, insn->index)));
}

static bool step_return(struct verifier *v, uint8_t opcode)
{
	static const uint8_t kinds[] = { V_INT, V_LONG, V_FLOAT, V_DOUBLE, V_OBJECT, V_TOP };
	struct cf_text parameters;
	struct cf_type type;
	struct vtype result;

	if (!cf_method_types(v->method.descriptor, &parameters, &type))
		return vf_bad(v, "illegal method descriptor");
	result = vt_field(v, &type);
	if ((vt_is_reference(result) ? V_OBJECT : result.kind) != kinds[opcode - OP_ireturn])
		return vf_bad(v, "the instruction returns the wrong type");
	if (result.kind != V_TOP)
		return vf_pop_as(v, result);
	if (v->is_init && v->now.uninit)
		return vf_bad(v, "a constructor returns before this() or super()");
	return true;
}

bool vf_step(struct verifier *v, const struct cf_insn *insn)
{
	uint8_t op = insn->opcode;

	if (op < sizeof(effects) / EFFECT_LEN && effects[op][0])
		return apply_effect(v, effects[op]);
	if (op >= OP_iload && op <= OP_aload)
		return load(v, op - OP_iload, insn->index);
	if (op >= OP_iload_0 && op <= OP_aload_3)
		return load(v, (op - OP_iload_0) / 4, (op - OP_iload_0) % 4);
	if (op >= OP_istore && op <= OP_astore)
		return store(v, op - OP_istore, insn->index);
	if (op >= OP_istore_0 && op <= OP_astore_3)
		return store(v, (op - OP_istore_0) / 4, (op - OP_istore_0) % 4);
	if (cf_is_return(op))
		return step_return(v, op);
	if (op >= OP_getstatic && op <= OP_putfield)
		return vf_step_field(v, insn);
	if (op >= OP_invokevirtual && op <= OP_invokedynamic)
		return vf_step_invoke(v, insn);
	switch (op) {
	case OP_ldc:
	case OP_ldc_w:
	case OP_ldc2_w:
		return load_constant(v, insn->index);
	case OP_aaload:
		return load_element(v);
	case OP_pop:
	case OP_pop2:
		return vf_drop(v, op - OP_pop + 1u);
	case OP_dup:
	case OP_dup_x1:
	case OP_dup_x2:
		return vf_duplicate(v, 1, op - OP_dup);
	case OP_dup2:
	case OP_dup2_x1:
	case OP_dup2_x2:
		return vf_duplicate(v, 2, op - OP_dup2);
	case OP_swap:
		return vf_swap(v);
	case OP_iinc:
		return vt_assignable(v, v->now.locals[insn->index], vt_kind(V_INT)) ||
		       vf_bad(v, "the local variable is not an int");
	case OP_jsr:
	case OP_jsr_w:
		return vf_push(v,
			       (struct vtype){ insn->pc + (uint32_t)insn->value, 0, 0, V_ADDRESS });
	case OP_ret:
		return v->now.locals[insn->index].kind == V_ADDRESS ||
		       v->now.locals[insn->index].kind == V_ANY ||
		       vf_bad(v, "the local variable is not a return address");
	case OP_new:
		return step_new(v);
	case OP_checkcast:
		return step_cast(v, insn);
	default: /* newarray, anewarray, multianewarray */
		return step_array(v, insn);
	}
}
