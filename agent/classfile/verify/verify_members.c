/* Applies instructions that use fields and call methods (JVMS 4.10.1.9). */
#include "classfile/verify/verify_internal.h"

#include <string.h>

/* Returns true for a field of this class, which a constructor may set before this() or super(). */
static bool is_own_field(struct verifier *v, const struct cf_ref *ref)
{
	struct cf_member field;

	return cf_text_same(ref->class, cf_name(v->class)) && vf_spend(v, v->class->n_fields) &&
	       cf_find_member(cf_fields(v->class), ref->name, ref->descriptor, &field);
}

static bool pop_object(struct verifier *v, const struct cf_ref *ref, bool may_be_uninit)
{
	struct vtype type;

	if (!vf_pop(v, &type))
		return false;
	if (may_be_uninit && type.kind == V_UNINIT_THIS && is_own_field(v, ref))
		return true;
	return vt_assignable(v, type, vt_class(v, ref->class)) ||
	       vf_bad(v, "wrong type on the stack");
}

bool vf_step_field(struct verifier *v, const struct cf_insn *insn)
{
	uint8_t op = insn->opcode;
	struct cf_ref ref;
	struct cf_type type;
	struct vtype value;

	if (!cf_ref(v->pool, insn->index, &ref) || !cf_type_next(&ref.descriptor, &type) ||
	    type.kind == 'V')
		return vf_bad(v, "the constant is not a field");
	value = vt_field(v, &type);
	ref.descriptor = type.text;
	if (op == OP_getstatic)
		return vf_push(v, value);
	if (op == OP_putstatic)
		return vf_pop_as(v, value);
	if (ref.class.len > 0 && ref.class.data[0] == '[')
		return vf_bad(v, "an array has no fields");
	if (op == OP_getfield)
		return pop_object(v, &ref, false) && vf_push(v, value);
	return vf_pop_as(v, value) && pop_object(v, &ref, true);
}

/* Pops the parameters, checks their types, and sets *n_slots to the number of slots they take. */
static bool pop_parameters(struct verifier *v, struct cf_text rest, uint32_t *n_slots)
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
		return vf_bad(v, "the stack lacks parameters of the call");
	v->now.n_stack -= n;
	at = v->now.stack + v->now.n_stack;
	while (cf_type_next(&rest, &type)) {
		struct vtype wanted = vt_field(v, &type);

		if (!vt_assignable(v, *at++, wanted) ||
		    (vt_is_wide(wanted) && !vt_assignable(v, *at++, vt_second(wanted))))
			return vf_bad(v, "a parameter on the stack has the wrong type");
	}
	*n_slots = n;
	return true;
}

/* Replaces the type of all copies of an object after its constructor is called. */
static bool replace(struct verifier *v, struct vtype old, struct vtype new)
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

static bool call_other_constructor(struct verifier *v, struct vtype class)
{
	struct vtype this = vt_kind(V_UNINIT_THIS);

	if (!vt_same(v, class, v->this_type) && !vt_same(v, class, v->super_type))
		return vf_bad(v, "the called constructor is not of this class or its superclass");
	/* A handler that covers this call must not use the object as an initialised one. */
	if (!replace(v, this, v->this_type) || (!v->infer && !vf_at_handlers(v, true)))
		return false;
	v->now.uninit = false;
	return true;
}

static bool construct(struct verifier *v, struct vtype class)
{
	struct vtype type, created;

	if (!vf_pop(v, &type))
		return false;
	if (type.kind == V_UNINIT_THIS)
		return call_other_constructor(v, class);
	if (type.kind == V_ANY)
		return true;
	if (type.kind != V_UNINIT)
		return vf_bad(v, "the object is already constructed");
	created = vt_class(v, cf_class_name(v->pool, cf_peek_u2(v->code.code + type.at + 1)));
	if (!vt_same(v, class, created))
		return vf_bad(v, "the constructor is not of the class of the new object");
	return replace(v, type, created) && (v->infer || vf_at_handlers(v, v->now.uninit));
}

/*
 * Returns true if invokespecial may call methods of the class in `ref` (JVMS
 * 4.10.1.9.invokespecial).
 */
static bool may_invokespecial(const struct verifier *v, const struct cf_ref *ref)
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

/*
 * Returns true if `object` may be the receiver of the method.  Classes outside java.lang may call
 * the protected methods of Object only on objects of their own class; they may call clone() on
 * arrays as well.
 */
static bool may_call(const struct verifier *v, const struct cf_ref *ref, struct vtype object)
{
	bool is_clone = cf_text_is(ref->name, "clone") &&
			cf_text_is(ref->descriptor, "()Ljava/lang/Object;");

	if (!cf_text_is(ref->class, "java/lang/Object") || is_in_java_lang(cf_name(v->class)) ||
	    (!is_clone &&
	     !(cf_text_is(ref->name, "finalize") && cf_text_is(ref->descriptor, "()V"))))
		return true;
	return (is_clone && object.dims > 0) || vt_assignable(v, object, v->this_type);
}

static bool pop_receiver(struct verifier *v, const struct cf_ref *ref, uint8_t op)
{
	struct vtype type, wanted = vt_class(v, ref->class);

	if (op == OP_invokespecial) {
		if (cf_text_is(ref->name, "<init>"))
			return construct(v, wanted);
		if (!may_invokespecial(v, ref))
			return vf_bad(v, "invokespecial calls a method of an unrelated class");
		return vf_pop_as(v, v->this_type);
	}
	if (!vf_pop(v, &type))
		return false;
	if (!vt_assignable(v, type, wanted))
		return vf_bad(v, "wrong type on the stack");
	return op != OP_invokevirtual || may_call(v, ref, type) ||
	       vf_bad(v, "a protected method is called on another class's object");
}

bool vf_step_invoke(struct verifier *v, const struct cf_insn *insn)
{
	uint8_t op = insn->opcode;
	struct cf_text parameters;
	struct cf_type type;
	struct vtype result;
	struct cf_ref ref;
	uint32_t n = 0;

	if (!cf_ref(v->pool, insn->index, &ref) ||
	    !cf_method_types(ref.descriptor, &parameters, &type))
		return vf_bad(v, "the constant is not a method");
	if (ref.name.len > 0 && ref.name.data[0] == '<' &&
	    !(op == OP_invokespecial && cf_text_is(ref.name, "<init>")))
		return vf_bad(v, "an initializer is called like a method");
	if (!pop_parameters(v, parameters, &n))
		return false;
	if (op == OP_invokeinterface && insn->value != (int32_t)n + 1)
		return vf_bad(v, "invokeinterface has the wrong parameter count");
	if (op != OP_invokestatic && op != OP_invokedynamic && !pop_receiver(v, &ref, op))
		return false;
	result = vt_field(v, &type);
	return result.kind == V_TOP || vf_push(v, result);
}
