/*
 * Internal functions of cf_verify(), the lowest level first.  The functions vf_*, except
 * vf_is_jsr(), record a fault and return false if the code is invalid.
 */
#ifndef JTOOL_AGENT_CLASSFILE_VERIFY_VERIFY_INTERNAL_H
#define JTOOL_AGENT_CLASSFILE_VERIFY_VERIFY_INTERNAL_H

#include "classfile/verify/verify_state.h"

/* verify_types.c */
struct vtype vt_kind(enum vkind kind);
/* Returns the type of a class in the list `known` of verify_types.c, such as Object. */
struct vtype vt_known(const char *name);
/* Returns the type of a name in a Class constant: "java/lang/String" or "[I". */
struct vtype vt_class(const struct verifier *v, struct cf_text name);
struct vtype vt_field(const struct verifier *v, const struct cf_type *type);
bool vt_is_wide(struct vtype type);    /* true for the first half of a long or double */
bool vt_is_second(struct vtype type);  /* true for the second half of a long or double */
bool vt_is_reference(struct vtype type);
struct vtype vt_second(struct vtype first);
bool vt_same(const struct verifier *v, struct vtype a, struct vtype b);
bool vt_assignable(const struct verifier *v, struct vtype from, struct vtype to);
/* Returns the type of a value that has either type a or type b. */
struct vtype vt_merge(const struct verifier *v, struct vtype a, struct vtype b);

/* verify_operands.c: checks that do not follow control flow */
bool vf_scan(struct verifier *v);
bool vf_is_jsr(const struct cf_insn *insn);

/* verify_stack.c */
bool vf_pop(struct verifier *v, struct vtype *type); /* pops one cell */
/*
 * vf_pop_as() pops a value, which must have type `to`.  vf_push() pushes a value.  These functions
 * pop or push both cells of a long or double.
 */
bool vf_pop_as(struct verifier *v, struct vtype to);
bool vf_push(struct verifier *v, struct vtype type);
bool vf_drop(struct verifier *v, uint32_t n);
/*
 * Copies the top n cells of the stack, and inserts the copy n + `below` cells under the top.  For
 * dup_x1, n and `below` are 1.
 */
bool vf_duplicate(struct verifier *v, uint32_t n, uint32_t below);
bool vf_swap(struct verifier *v);

/*
 * verify_arrive.c: handles control flow to `pc`.  With stack maps, compares the current locals and
 * the given stack with the frame at `pc`; by inference, merges them into that frame.  `uninit` is
 * true if this() or super() has not been called yet.
 */
bool vf_arrive(struct verifier *v, uint32_t pc, const struct vtype *stack, uint32_t n_stack,
	       bool uninit);
/* Calls vf_arrive() for each handler that covers now.pc, with the current locals. */
bool vf_at_handlers(struct verifier *v, bool uninit);
/* Calls vf_arrive() for each target of a jump, a switch or a ret. */
bool vf_at_targets(struct verifier *v, const struct cf_insn *insn);
bool vf_compare(struct verifier *v, const struct vframe *map, const struct vtype *stack,
		uint32_t n_stack, bool uninit);

/* verify_members.c: apply an instruction that uses a field or calls a method to v->now */
bool vf_step_field(struct verifier *v, const struct cf_insn *insn);
bool vf_step_invoke(struct verifier *v, const struct cf_insn *insn);

/* verify_step.c: applies an instruction with any opcode to v->now */
bool vf_step(struct verifier *v, const struct cf_insn *insn);

/* verify_maps.c: verification by StackMapTable (JVMS 4.10.1) */
bool vf_read_maps(struct verifier *v);
bool vf_follow_maps(struct verifier *v);

/* verify_flow.c: verification by inference (JVMS 4.10.2) */
bool vf_follow_flow(struct verifier *v);

#endif
