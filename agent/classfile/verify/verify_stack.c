/* Changes the types on the operand stack.  The two cells of a long or double must stay together. */
#include "classfile/verify/verify_internal.h"

#include <string.h>

bool vf_pop(struct verifier *v, struct vtype *type)
{
	if (v->now.n_stack == 0)
		return vf_bad(v, "operand stack underflow");
	*type = v->now.stack[--v->now.n_stack];
	return true;
}

bool vf_push(struct verifier *v, struct vtype type)
{
	uint32_t n = 1u + vt_is_wide(type);

	if (v->now.n_stack + n > v->code.max_stack)
		return vf_bad(v, "operand stack overflow");
	v->now.stack[v->now.n_stack++] = type;
	if (n == 2)
		v->now.stack[v->now.n_stack++] = vt_second(type);
	return true;
}

bool vf_pop_as(struct verifier *v, struct vtype to)
{
	struct vtype type;

	if (vt_is_wide(to) && (!vf_pop(v, &type) || !vt_assignable(v, type, vt_second(to))))
		return vf_bad(v, "wrong type on the stack");
	if (!vf_pop(v, &type))
		return false;
	return vt_assignable(v, type, to) || vf_bad(v, "wrong type on the stack");
}

/* Returns true if the top n cells begin within a long or double. */
static bool splits(const struct verifier *v, uint32_t n)
{
	return vt_is_second(v->now.stack[v->now.n_stack - n]);
}

bool vf_duplicate(struct verifier *v, uint32_t n, uint32_t below)
{
	struct vtype *end;
	uint32_t all = n + below;

	if (v->now.n_stack < all)
		return vf_bad(v, "operand stack underflow");
	if (splits(v, n) || (below > 0 && splits(v, all)))
		return vf_bad(v, "a long or double on the stack would be split");
	if (v->now.n_stack + n > v->code.max_stack)
		return vf_bad(v, "operand stack overflow");
	end = v->now.stack + v->now.n_stack;
	memmove(end - all + n, end - all, all * sizeof(*end));
	memcpy(end - all, end, n * sizeof(*end));
	v->now.n_stack += n;
	return true;
}

bool vf_drop(struct verifier *v, uint32_t n)
{
	if (v->now.n_stack < n)
		return vf_bad(v, "operand stack underflow");
	if (splits(v, n))
		return vf_bad(v, "a long or double on the stack would be split");
	v->now.n_stack -= n;
	return true;
}

bool vf_swap(struct verifier *v)
{
	struct vtype *end = v->now.stack + v->now.n_stack, type;

	if (v->now.n_stack < 2)
		return vf_bad(v, "operand stack underflow");
	if (splits(v, 1) || splits(v, 2))
		return vf_bad(v, "a long or double on the stack would be split");
	type = end[-1];
	end[-1] = end[-2];
	end[-2] = type;
	return true;
}
