#include "classfile/verify/verify_internal.h"

/* Sets the types of the first local variables, which hold the parameters (JVMS 2.6.1). */
static bool fill_parameters(struct verifier *v)
{
	struct vtype *locals = v->now.locals;
	uint32_t max = v->code.max_locals, n = 0;
	struct cf_text rest;
	struct cf_type type;

	if (!cf_method_types(v->method.descriptor, &rest, &type))
		return vf_bad(v, "illegal method descriptor");
	if (!(v->method.access & CF_ACC_STATIC) && n < max)
		locals[n++] = v->is_init ? vt_kind(V_UNINIT_THIS) : v->this_type;
	while (cf_type_next(&rest, &type)) {
		if (n + cf_type_slots(&type) > max)
			return vf_bad(v, "the parameters do not fit into the local variables");
		locals[n++] = vt_field(v, &type);
		if (vt_is_wide(locals[n - 1])) {
			locals[n] = vt_second(locals[n - 1]);
			n++;
		}
	}
	v->now.n_locals = n;
	return true;
}

static bool verify_code(struct verifier *v)
{
	v->now.locals = vf_cells(v, v->code.max_locals);
	v->now.stack = vf_cells(v, v->code.max_stack);
	v->map = ag_alloc(v->pool->mem, (size_t)v->code.len + 1, 1);
	if (!v->now.locals || !v->now.stack || !v->map)
		return vf_no_memory(v);
	if (!fill_parameters(v) || !vf_scan(v))
		return false;
	v->now.pc = 0;
	v->changed = true;
	return v->infer ? vf_follow_flow(v) : vf_read_maps(v) && vf_follow_maps(v);
}

static bool verify_method(struct verifier *v)
{
	bool is_object = cf_text_is(cf_name(v->class), "java/lang/Object"), valid;

	if (v->method.access & (CF_ACC_NATIVE | CF_ACC_ABSTRACT) || !cf_code(&v->method, &v->code))
		return true;
	v->is_init = !is_object && cf_text_is(v->method.name, "<init>");
	v->now = (struct vframe){ .uninit = v->is_init };
	v->lenient = false;
	if (cf_text_is(v->method.name, "<clinit>"))
		v->method.access |= CF_ACC_STATIC; /* static even without the flag (JVMS 4.6) */
	if (v->code.len == 0 || v->code.len > UINT16_MAX)
		return vf_bad(v, "the code is empty or longer than 65535 bytes");
	valid = verify_code(v);
	vf_release(v);
	return valid;
}

static bool verify(const struct cf_class *class, struct cf_fault *fault, bool infer)
{
	struct verifier v = {
		.class = class,
		.pool = &class->pool,
		.fault = fault,
		.infer = infer,
	};
	struct cf_members methods = cf_methods(class);
	struct cf_text super = cf_super(class);

	*fault = (struct cf_fault){ .pc = UINT32_MAX };
	v.this_type = vt_class(&v, cf_name(class));
	v.super_type = super.data ? vt_class(&v, super) : vt_known("java/lang/Object");
	while (cf_next_member(&methods, &v.method)) {
		if (!verify_method(&v))
			return false;
	}
	return true;
}

bool cf_verify(const struct cf_class *class, struct cf_fault *fault)
{
	if (class->major < JAVA_6)
		return verify(class, fault, true);
	/* In class file version 50, the JVM uses inference if stack maps are missing or wrong. */
	return verify(class, fault, false) || (class->major == JAVA_6 && !fault->format &&
					       !fault->memory && verify(class, fault, true));
}

bool cf_verify_without_maps(const struct cf_class *class, struct cf_fault *fault)
{
	return verify(class, fault, true);
}
