/*
 * Handles control flow to a target.  If the class is verified with stack maps, compares the current
 * types with the stack map at the target; if it is verified by inference, merges the current types
 * into those of the target.
 */
#include "classfile/verify/verify_internal.h"

static struct vframe *find_frame(const struct verifier *v, uint32_t pc)
{
	uint32_t low = 0, high = v->n_frames;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (v->frames[middle].pc == pc)
			return &v->frames[middle];
		if (v->frames[middle].pc < pc)
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}

bool vf_compare(struct verifier *v, const struct vframe *map, const struct vtype *stack,
		uint32_t n_stack, bool uninit)
{
	if (!vf_spend(v, map->n_locals + n_stack))
		return false;
	if (n_stack != map->n_stack)
		return vf_bad(v, "the stack depth differs from StackMapTable");
	if (uninit && !map->uninit)
		return vf_bad(v, "'this' is uninitialised, but not in StackMapTable");
	for (uint32_t i = 0; i < n_stack; i++) {
		if (!vt_assignable(v, stack[i], map->stack[i]))
			return vf_bad(v, "a type on the stack differs from StackMapTable");
	}
	for (uint32_t i = 0; i < map->n_locals; i++) {
		if (!vt_assignable(v, v->now.locals[i], map->locals[i]))
			return vf_bad(v, "a local variable's type differs from StackMapTable");
	}
	return true;
}

static bool fill_frame(struct verifier *v, struct vframe *frame, const struct vtype *stack,
		       uint32_t n_stack, bool uninit)
{
	uint32_t n_locals = v->code.max_locals;

	frame->locals = vf_cells(v, (size_t)n_locals + n_stack);
	if (!frame->locals)
		return false;
	frame->stack = frame->locals + n_locals;
	frame->n_stack = n_stack;
	for (uint32_t i = 0; i < n_locals; i++)
		frame->locals[i] = v->now.locals[i];
	for (uint32_t i = 0; i < n_stack; i++)
		frame->stack[i] = stack[i];
	frame->uninit = uninit;
	frame->filled = true;
	frame->pending = true;
	return true;
}

/* Merges `from` into *into.  Returns true if *into changes. */
static bool merge_type(const struct verifier *v, struct vtype *into, struct vtype from)
{
	struct vtype old = *into;

	*into = vt_merge(v, old, from);
	return !vt_same(v, old, *into);
}

static bool merge_frame(struct verifier *v, struct vframe *frame, const struct vtype *stack,
			uint32_t n_stack, bool uninit)
{
	if (!vf_spend(v, v->code.max_locals + n_stack))
		return false;
	if (!frame->filled)
		return fill_frame(v, frame, stack, n_stack, uninit);
	if (frame->n_stack != n_stack)
		return vf_bad(v, "paths meet with different stack depths");
	for (uint32_t i = 0; i < n_stack; i++) {
		frame->pending |= merge_type(v, &frame->stack[i], stack[i]);
		if (frame->stack[i].kind == V_TOP)
			return vf_bad(v, "paths meet with different types on the stack");
	}
	for (uint32_t i = 0; i < v->code.max_locals; i++)
		frame->pending |= merge_type(v, &frame->locals[i], v->now.locals[i]);
	if (uninit && !frame->uninit)
		frame->pending = frame->uninit = true;
	return true;
}

bool vf_arrive(struct verifier *v, uint32_t pc, const struct vtype *stack, uint32_t n_stack,
	       bool uninit)
{
	struct vframe *frame = find_frame(v, pc);

	if (!frame)
		return vf_bad(v, "StackMapTable has no frame at the target");
	return v->infer ? merge_frame(v, frame, stack, n_stack, uninit)
			: vf_compare(v, frame, stack, n_stack, uninit);
}

bool vf_at_handlers(struct verifier *v, bool uninit)
{
	if (!vf_spend(v, v->code.n_handlers))
		return false;
	for (uint16_t i = 0; i < v->code.n_handlers; i++) {
		struct cf_handler h = cf_handler(&v->code, i);
		struct vtype caught = vt_known("java/lang/Throwable");

		if (v->now.pc < h.start || v->now.pc >= h.end)
			continue;
		if (h.type != 0)
			caught = vt_class(v, cf_class_name(v->pool, h.type));
		if (v->code.max_stack == 0)
			return vf_bad(v, "the stack has no room for the caught exception");
		if (!vf_arrive(v, h.handler, &caught, 1, uninit))
			return false;
	}
	return true;
}

static bool branch_to(struct verifier *v, int32_t offset)
{
	return vf_arrive(v, v->now.pc + (uint32_t)offset, v->now.stack, v->now.n_stack,
			 v->now.uninit);
}

/*
 * Handles the instruction ret: control may flow to the instruction after any jsr that calls the
 * subroutine.  The types at those jsr instructions are not known here, so all types become V_ANY.
 */
static bool return_from_subroutine(struct verifier *v, struct vtype address)
{
	struct cf_insn jsr;

	for (uint32_t i = 0; i < v->code.max_locals; i++)
		v->now.locals[i] = vt_kind(V_ANY);
	for (uint32_t i = 0; i < v->now.n_stack; i++)
		v->now.stack[i] = vt_kind(V_ANY);
	for (uint32_t pc = 0; address.kind == V_ADDRESS && pc < v->code.len; pc++) {
		if (!(v->map[pc] & MAP_JSR) || !cf_insn(v->code.code, v->code.len, pc, &jsr) ||
		    pc + (uint32_t)jsr.value != address.at)
			continue;
		if (pc + jsr.len >= v->code.len)
			return vf_bad(v, "control falls off the end of the code");
		if (!vf_arrive(v, pc + jsr.len, v->now.stack, v->now.n_stack, v->now.uninit))
			return false;
	}
	return vf_spend(v, v->code.len + v->code.max_locals + v->now.n_stack);
}

bool vf_at_targets(struct verifier *v, const struct cf_insn *insn)
{
	switch (insn->operands) {
	case CF_OP_BRANCH:
	case CF_OP_BRANCH_W:
		return branch_to(v, insn->value);
	case CF_OP_TABLE:
	case CF_OP_LOOKUP:
		if (!branch_to(v, insn->otherwise))
			return false;
		for (uint32_t i = 0; i < insn->n; i++) {
			if (!branch_to(v, cf_case(insn, i).offset))
				return false;
		}
		return true;
	case CF_OP_LOCAL:
		return insn->opcode != OP_ret ||
		       return_from_subroutine(v, v->now.locals[insn->index]);
	default:
		return true;
	}
}
