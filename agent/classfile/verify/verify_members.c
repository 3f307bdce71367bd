/* The effect of the instructions that use fields and call methods (JVMS 4.10.1.9). */
#include "classfile/verifying.h"

#include <string.h>

enum {
	GETSTATIC = 0xb2,
	PUTSTATIC = 0xb3,
	GETFIELD = 0xb4,
	INVOKEVIRTUAL = 0xb6,
	INVOKESPECIAL = 0xb7,
	INVOKESTATIC = 0xb8,
	INVOKEINTERFACE = 0xb9,
	INVOKEDYNAMIC = 0xba,
};

/* A constructor may fill its own class's fields before it calls another one (JVMS 4.10.1.9). */
static bool is_own_field(struct verifying *v, const struct cf_ref *ref)
{
	struct cf_member field;

	return cf_text_same(ref->class, cf_name(v->class)) && vf_spend(v, v->class->n_fields) &&
	       cf_find_member(cf_fields(v->class), ref->name, ref->descriptor, &field);
}

static bool pop_object(struct verifying *v, const struct cf_ref *ref, bool may_be_uninit)
{
	struct vtype type;

	if (!vf_pop(v, &type))
		return false;
	if (may_be_uninit && type.kind == V_UNINIT_THIS && is_own_field(v, ref))
		return true;
	return vt_assignable(v, type, vt_class(v, ref->class)) ||
	       vf_bad(v, "another type is on the stack");
}

bool vf_step_field(struct verifying *v, const struct cf_insn *insn)
{
	uint8_t op = insn->opcode;
	struct cf_ref ref;
	struct cf_type type;
	struct vtype value;

	if (!cf_ref(v->pool, insn->index, &ref) || !cf_type_next(&ref.descriptor, &type) ||
	    type.kind == 'V')
		return vf_bad(v, "the constant is no field");
	value = vt_field(v, &type);
	ref.descriptor = type.text;
	if (op == GETSTATIC)
		return vf_push(v, value);
	if (op == PUTSTATIC)
		return vf_pop_as(v, value);
	if (ref.class.len > 0 && ref.class.data[0] == '[')
		return vf_bad(v, "an array has no fields");
	if (op == GETFIELD)
		return pop_object(v, &ref, false) && vf_push(v, value);
	return vf_pop_as(v, value) && pop_object(v, &ref, true);
}

/* Compare the parameters with the upper part of the stack, and take them from there. */
static bool pop_parameters(struct verifying *v, struct cf_text rest, uint32_t *n_slots)
{
	struct cf_text again = rest;
	const struct vtype *at;
	struct cf_type type;
	uint32_t n = 0;

	if (!vf_spend(v, rest.len))
		return false;
	while (cf_type_next(&again, &type))
		n += cf_type_slots(&type);
	if (n > v->now.n_stack)
		return vf_bad(v, "the stack has not all parameters");
	v->now.n_stack -= n;
	at = v->now.stack + v->now.n_stack;
	while (cf_type_next(&rest, &type)) {
		struct vtype wanted = vt_field(v, &type);

		if (!vt_assignable(v, *at++, wanted) ||
		    (vt_is_wide(wanted) && !vt_assignable(v, *at++, vt_second(wanted))))
			return vf_bad(v, "a parameter on the stack has another type");
	}
	*n_slots = n;
	return true;
}

/* All copies of what is constructed now have a type. */
static bool replace(struct verifying *v, struct vtype old, struct vtype new)
{
	for (uint32_t i = 0; i < v->now.n_stack; i++) {
		if (vt_same(v, v->now.stack[i], old))
			v->now.stack[i] = new;
	}
	for (uint32_t i = 0; i < v->code.max_locals; i++) {
		if (vt_same(v, v->now.locals[i], old))
			v->now.locals[i] = new;
	}
	v->changed = true;
	return vf_spend(v, v->now.n_stack + v->code.max_locals);
}

static bool call_other_constructor(struct verifying *v, struct vtype class)
{
	struct vtype this = vt_kind(V_UNINIT_THIS);

	if (!vt_same(v, class, v->this_type) && !vt_same(v, class, v->super_type))
		return vf_bad(v, "a constructor calls one of a class that is not its own or super");
	/* Nobody who catches what it throws may take the object for whole. */
	if (!replace(v, this, v->this_type) || (!v->infer && !vf_at_handlers(v, true)))
		return false;
	v->now.uninit = false;
	return true;
}

static bool construct(struct verifying *v, struct vtype class)
{
	struct vtype type, made;

	if (!vf_pop(v, &type))
		return false;
	if (type.kind == V_UNINIT_THIS)
		return call_other_constructor(v, class);
	if (type.kind == V_ANY)
		return true;
	if (type.kind != V_UNINIT)
		return vf_bad(v, "what is constructed is so already");
	made = vt_class(v, cf_class_name(v->pool, cf_peek_u2(v->code.code + type.at + 1)));
	if (!vt_same(v, class, made))
		return vf_bad(v, "the constructor is not of the class that was made");
	return replace(v, type, made) && (v->infer || vf_at_handlers(v, v->now.uninit));
}

/* Which classes' methods invokespecial may call (JVMS 4.10.1.9.invokespecial). */
static bool is_special(const struct verifying *v, const struct cf_ref *ref)
{
	struct vtype class = vt_class(v, ref->class);

	if (vt_same(v, class, v->this_type) || vt_same(v, class, v->super_type))
		return true;
	for (uint16_t i = 0; i < v->class->n_interfaces; i++) {
		if (cf_text_same(ref->class, cf_interface(v->class, i)))
			return true;
	}
	return ref->tag == CF_METHOD && vt_assignable(v, v->this_type, class);
}

static bool is_in_java_lang(struct cf_text name)
{
	const char package[] = "java/lang/";
	size_t len = sizeof(package) - 1;

	return name.len > len && memcmp(name.data, package, len) == 0 &&
	       !memchr(name.data + len, '/', name.len - len);
}

/* Object's protected methods, of another package: only of one's own class, and of arrays. */
static bool may_call(const struct verifying *v, const struct cf_ref *ref, struct vtype object)
{
	bool is_clone = cf_text_is(ref->name, "clone") &&
			cf_text_is(ref->descriptor, "()Ljava/lang/Object;");

	if (!cf_text_is(ref->class, "java/lang/Object") || is_in_java_lang(cf_name(v->class)) ||
	    (!is_clone &&
	     !(cf_text_is(ref->name, "finalize") && cf_text_is(ref->descriptor, "()V"))))
		return true;
	return (is_clone && object.dims > 0) || vt_assignable(v, object, v->this_type);
}

static bool pop_receiver(struct verifying *v, const struct cf_ref *ref, uint8_t op)
{
	struct vtype type, wanted = vt_class(v, ref->class);

	if (op == INVOKESPECIAL) {
		if (cf_text_is(ref->name, "<init>"))
			return construct(v, wanted);
		if (!is_special(v, ref))
			return vf_bad(v, "invokespecial calls a method of another class");
		return vf_pop_as(v, v->this_type);
	}
	if (!vf_pop(v, &type))
		return false;
	if (!vt_assignable(v, type, wanted))
		return vf_bad(v, "another type is on the stack");
	return op != INVOKEVIRTUAL || may_call(v, ref, type) ||
	       vf_bad(v, "a protected method is called of another class's object");
}

bool vf_step_invoke(struct verifying *v, const struct cf_insn *insn)
{
	uint8_t op = insn->opcode;
	struct cf_text parameters;
	struct cf_type type;
	struct vtype result;
	struct cf_ref ref;
	uint32_t n = 0;

	if (!cf_ref(v->pool, insn->index, &ref) ||
	    !cf_method_types(ref.descriptor, &parameters, &type))
		return vf_bad(v, "the constant is no method");
	if (ref.name.len > 0 && ref.name.data[0] == '<' &&
	    !(op == INVOKESPECIAL && cf_text_is(ref.name, "<init>")))
		return vf_bad(v, "an initializer is called as if it were a method");
	if (!pop_parameters(v, parameters, &n))
		return false;
	if (op == INVOKEINTERFACE && insn->value != (int32_t)n + 1)
		return vf_bad(v, "invokeinterface counts its parameters wrong");
	if (op != INVOKESTATIC && op != INVOKEDYNAMIC && !pop_receiver(v, &ref, op))
		return false;
	result = vt_field(v, &type);
	return result.kind == V_TOP || vf_push(v, result);
}
