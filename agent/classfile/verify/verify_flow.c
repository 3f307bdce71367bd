/*
 * Verification by inference (JVMS 4.10.2): the code is followed, and where ways meet, their types
 * are merged until nothing changes any more.
 */
#include "classfile/verifying.h"

/* Where something jumps to, and the begin, frames are kept. */
static bool make_frames(struct verifying *v)
{
	uint32_t n = 0;

	v->map[0] |= MAP_TARGET;
	for (uint32_t pc = 0; pc < v->code.len; pc++)
		n += (v->map[pc] & MAP_TARGET) != 0;
	v->frames = ag_alloc(v->pool->mem, n, sizeof(*v->frames));
	if (!v->frames)
		return vf_no_memory(v);
	for (uint32_t pc = 0; pc < v->code.len; pc++) {
		if (v->map[pc] & MAP_TARGET)
			v->frames[v->n_frames++].pc = pc;
	}
	return true;
}

static bool keep(struct verifying *v, struct vframe *frame, const struct vtype *stack,
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
	frame->kept = true;
	frame->waits = true;
	return true;
}

/* True when it has become another type. */
static bool merge(const struct verifying *v, struct vtype *into, struct vtype from)
{
	struct vtype old = *into;

	*into = vt_merge(v, old, from);
	return !vt_same(v, old, *into);
}

bool vf_merge(struct verifying *v, struct vframe *frame, const struct vtype *stack,
	      uint32_t n_stack, bool uninit)
{
	if (!vf_spend(v, v->code.max_locals + n_stack))
		return false;
	if (!frame->kept)
		return keep(v, frame, stack, n_stack, uninit);
	if (frame->n_stack != n_stack)
		return vf_bad(v, "where ways meet, the stack has another depth on each");
	for (uint32_t i = 0; i < n_stack; i++) {
		frame->waits |= merge(v, &frame->stack[i], stack[i]);
		if (frame->stack[i].kind == V_TOP)
			return vf_bad(v, "where ways meet, the stack has another type on each");
	}
	for (uint32_t i = 0; i < v->code.max_locals; i++)
		frame->waits |= merge(v, &frame->locals[i], v->now.locals[i]);
	if (uninit && !frame->uninit)
		frame->waits = frame->uninit = true;
	return true;
}

/* To the end of the flow, or to where another frame is kept. */
static bool follow(struct verifying *v, const struct vframe *frame)
{
	struct cf_insn insn;

	for (uint32_t i = 0; i < v->code.max_locals; i++)
		v->now.locals[i] = frame->locals[i];
	for (uint32_t i = 0; i < frame->n_stack; i++)
		v->now.stack[i] = frame->stack[i];
	v->now.n_stack = frame->n_stack;
	v->now.uninit = frame->uninit;
	v->changed = true;
	for (uint32_t pc = frame->pc; pc < v->code.len; pc += insn.len) {
		v->now.pc = pc;
		if (pc != frame->pc && v->map[pc] & MAP_TARGET)
			return vf_arrive(v, pc, v->now.stack, v->now.n_stack, v->now.uninit);
		if (!cf_insn(v->code.code, v->code.len, pc, &insn))
			return vf_bad(v, "there is no instruction");
		if ((v->changed || v->map[pc] & MAP_RANGE) && !vf_at_handlers(v, v->now.uninit))
			return false;
		v->changed = false;
		if (!vf_spend(v, 1) || !vf_step(v, &insn) || !vf_at_targets(v, &insn))
			return false;
		if (cf_ends_flow(&insn) || vf_is_jsr(&insn))
			return true;
	}
	return vf_bad(v, "control falls out of the code's end");
}

bool vf_follow_flow(struct verifying *v)
{
	bool again = true;

	if (!make_frames(v) || !vf_arrive(v, 0, NULL, 0, v->now.uninit))
		return false;
	while (again) {
		again = false;
		for (uint32_t i = 0; i < v->n_frames; i++) {
			struct vframe *frame = &v->frames[i];

			if (!frame->waits)
				continue;
			again = true;
			frame->waits = false;
			if (!vf_spend(v, v->code.max_locals) || !follow(v, frame))
				return false;
		}
		if (!vf_spend(v, v->n_frames))
			return false;
	}
	return true;
}
