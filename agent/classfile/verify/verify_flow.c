/* Verifies by inference (JVMS 4.10.2): merges the types where paths meet, until no type changes. */
#include "classfile/verify/verify_internal.h"

/* Allocates frames for the start of the code and for each jump target. */
static bool make_frames(struct verifier *v)
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

/*
 * Verifies the instructions from a frame up to the next frame, or up to an instruction after which
 * control does not continue.
 */
static bool follow(struct verifier *v, const struct vframe *frame)
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
			return vf_bad(v, "illegal or incomplete instruction");
		if ((v->changed || v->map[pc] & MAP_RANGE) && !vf_at_handlers(v, v->now.uninit))
			return false;
		v->changed = false;
		if (!vf_spend(v, 1) || !vf_step(v, &insn) || !vf_at_targets(v, &insn))
			return false;
		if (cf_ends_flow(&insn) || vf_is_jsr(&insn))
			return true;
	}
	return vf_bad(v, "control falls off the end of the code");
}

bool vf_follow_flow(struct verifier *v)
{
	bool again = true;

	if (!make_frames(v) || !vf_arrive(v, 0, NULL, 0, v->now.uninit))
		return false;
	while (again) {
		again = false;
		for (uint32_t i = 0; i < v->n_frames; i++) {
			struct vframe *frame = &v->frames[i];

			if (!frame->pending)
				continue;
			again = true;
			frame->pending = false;
			if (!vf_spend(v, v->code.max_locals) || !follow(v, frame))
				return false;
		}
		if (!vf_spend(v, v->n_frames))
			return false;
	}
	return true;
}
