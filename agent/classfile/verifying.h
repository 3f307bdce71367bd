/* What the parts of cf_verify() share. */
#ifndef JTOOL_CLASSFILE_VERIFYING_H
#define JTOOL_CLASSFILE_VERIFYING_H

#include "classfile/code.h"
#include "classfile/descr.h"
#include "classfile/verify.h"
#include "classfile/versions.h"

/*
 * A verification type (JVMS 4.10.1.2), of one local variable or stack cell: a long or double
 * takes two, of which the second has a type of its own.
 */
enum vkind {
	V_TOP, /* nothing that can be used */
	V_INT,
	V_FLOAT,
	V_LONG,
	V_LONG_2,
	V_DOUBLE,
	V_DOUBLE_2,
	V_NULL,
	V_UNINIT_THIS,
	V_UNINIT,  /* at: where it is made */
	V_ADDRESS, /* at: the subroutine that jsr went to */
	V_OBJECT,  /* a class, or an array of them */
	V_PRIMS,   /* an array of primitives; at: their letter */
	V_ANY,     /* with jsr: it depends on who called the subroutine */
};

struct vtype {
	uint32_t at;  /* where the class's name stands: see vt_name() */
	uint16_t len; /* of the name; 0: some class, which of them is not known */
	uint8_t dims; /* of an array */
	uint8_t kind;
};

/* What is on the stack and in all max_locals variables before an instruction. */
struct vframe {
	struct vtype *locals, *stack;
	uint32_t pc, n_stack;
	uint32_t n_locals; /* of a stack map: what is behind them is V_TOP */
	bool uninit;       /* no other constructor has been called yet */
	bool kept;         /* of the inference: it is filled in */
	bool waits;        /* of the inference: it is to be followed */
};

/* What is known of each byte of code. */
enum {
	MAP_INSN = 1,   /* an instruction begins */
	MAP_NEW = 2,    /* and it is new */
	MAP_JSR = 4,    /* or jsr */
	MAP_TARGET = 8, /* something jumps there */
	MAP_RANGE = 16, /* an exception handler's range begins */
};

struct verifying {
	const struct cf_class *class;
	const struct cf_pool *pool;
	struct cf_fault *fault;
	struct vtype this_type, super_type;
	bool infer;   /* by inference, not by stack maps */
	bool lenient; /* with jsr: types that do not agree are V_ANY */
	uint64_t work; /* steps taken: hostile code shall not take hours */

	/* of one method */
	struct cf_member method;
	struct cf_code code;
	bool is_init; /* a constructor of another class than java.lang.Object */
	uint8_t *map;
	struct vframe now;
	bool changed; /* locals have, since they were compared with the handlers' */
	struct vframe *frames; /* sorted by pc */
	uint32_t n_frames;
	struct vcells *cells;
	size_t n_cells;
};

/* Note what is wrong with the instruction at now.pc; always false. */
bool vf_bad(struct verifying *v, const char *what);
bool vf_no_memory(struct verifying *v);
/* Count steps; false when it is too much. */
bool vf_spend(struct verifying *v, uint64_t steps);

/* Cells that live as long as the method is looked at; NULL with a fault. */
struct vtype *vf_cells(struct verifying *v, size_t n);

/* verify_types.c */
struct vtype vt_kind(enum vkind kind);
/* One that is not in the class file: "java/lang/Object" or another of a few. */
struct vtype vt_known(const char *name);
/* Of a Class constant, or of a name: "java/lang/String" or "[I". */
struct vtype vt_class(const struct verifying *v, struct cf_text name);
struct vtype vt_field(const struct verifying *v, const struct cf_type *type);
bool vt_is_wide(struct vtype type);    /* a long's or double's first half */
bool vt_is_second(struct vtype type);  /* the second */
bool vt_is_reference(struct vtype type);
struct vtype vt_second(struct vtype first);
bool vt_same(const struct verifying *v, struct vtype a, struct vtype b);
bool vt_assignable(const struct verifying *v, struct vtype from, struct vtype to);
/* What is either of both. */
struct vtype vt_merge(const struct verifying *v, struct vtype a, struct vtype b);

/* verify_operands.c: the code as it stands, before it is followed */
bool vf_scan(struct verifying *v);
bool vf_is_jsr(const struct cf_insn *insn);

/* verify_stack.c */
bool vf_pop(struct verifying *v, struct vtype *type);
bool vf_pop_as(struct verifying *v, struct vtype to); /* what is assignable to it; both halves */
bool vf_push(struct verifying *v, struct vtype type); /* both halves */
bool vf_drop(struct verifying *v, uint32_t n);
/* dup and its kin: copy the upper n cells below the next ones. */
bool vf_duplicate(struct verifying *v, uint32_t n, uint32_t below);
bool vf_swap(struct verifying *v);

/* verify_step.c: the effect of one instruction on the frame */
bool vf_step(struct verifying *v, const struct cf_insn *insn);

/* verify_members.c: those that use fields and methods */
bool vf_step_field(struct verifying *v, const struct cf_insn *insn);
bool vf_step_invoke(struct verifying *v, const struct cf_insn *insn);

/* verify.c */
/* Call vf_arrive() for the handlers of now.pc with the variables as they are. */
bool vf_at_handlers(struct verifying *v, bool uninit);
/* Call vf_arrive() for where a jump or switch may lead. */
bool vf_at_targets(struct verifying *v, const struct cf_insn *insn);
/*
 * Control comes to the frame at pc with the locals as they are and this stack: they are
 * compared with the stack map, or merged into what came there before.
 */
bool vf_arrive(struct verifying *v, uint32_t pc, const struct vtype *stack, uint32_t n_stack,
	    bool uninit);

/* verify_maps.c: by StackMapTable (JVMS 4.10.1) */
bool vf_read_maps(struct verifying *v);
bool vf_follow_maps(struct verifying *v);
bool vf_compare(struct verifying *v, const struct vframe *map, const struct vtype *stack,
		      uint32_t n_stack, bool uninit);

/* verify_flow.c: by inference (JVMS 4.10.2) */
bool vf_follow_flow(struct verifying *v);
bool vf_merge(struct verifying *v, struct vframe *frame, const struct vtype *stack,
		uint32_t n_stack, bool uninit);

#endif
