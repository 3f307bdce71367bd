/*
 * The state of cf_verify(): current types, frames of the method, the fault, and the limits.  A
 * frame here is the types on the stack and in the local variables at one pc.
 */
#ifndef JTOOL_AGENT_CLASSFILE_VERIFY_VERIFY_STATE_H
#define JTOOL_AGENT_CLASSFILE_VERIFY_VERIFY_STATE_H

#include "classfile/code.h"
#include "classfile/descr.h"
#include "classfile/verify/verify.h"
#include "classfile/versions.h"

/* Verification types of a cell (JVMS 4.10.1.2).  A long or double has two cells. */
enum vkind {
	V_TOP, /* no usable value */
	V_INT,
	V_FLOAT,
	V_LONG,
	V_LONG_2,
	V_DOUBLE,
	V_DOUBLE_2,
	V_NULL,
	V_UNINIT_THIS,
	V_UNINIT,  /* an uninitialised object; vtype.at: pc of the `new` that allocated it */
	V_ADDRESS, /* a return address; vtype.at: pc of the subroutine */
	V_OBJECT,  /* an object, or an array of objects */
	V_PRIMS,   /* an array of primitives; vtype.at: descriptor letter of the element */
	V_ANY,     /* any type: the real type depends on which jsr called the subroutine */
};

struct vtype {
	/* V_UNINIT, V_ADDRESS, V_PRIMS: see enum vkind; V_OBJECT: position of the class name */
	uint32_t at;
	uint16_t len; /* length of the class name; 0: an unknown class */
	uint8_t dims; /* dimensions of an array; 0: not an array */
	uint8_t kind;
};

/* The types on the stack and in the local variables before an instruction. */
struct vframe {
	struct vtype *locals, *stack;
	uint32_t pc, n_stack;
	uint32_t n_locals; /* in a stack map: number of listed locals; further ones are V_TOP */
	bool uninit;       /* this() or super() has not been called yet */
	bool filled;       /* for type inference: the types are set */
	bool pending;      /* for type inference: the types changed, so follow the code from pc */
};

/* Flags of each byte of code. */
enum {
	MAP_INSN = 1,   /* an instruction begins here */
	MAP_NEW = 2,    /* the instruction is `new` */
	MAP_JSR = 4,    /* the instruction is jsr or jsr_w */
	MAP_TARGET = 8, /* a jump, a ret or an exception can continue here */
	MAP_RANGE = 16, /* the range of an exception handler begins here */
};

struct verifier {
	const struct cf_class *class;
	const struct cf_pool *pool;
	struct cf_fault *fault;
	struct vtype this_type, super_type;
	bool infer;    /* verify by inference instead of stack maps */
	bool lenient;  /* the method has a jsr: types that differ are merged to V_ANY */
	uint64_t work; /* steps so far, limited by vf_spend() */

	/* The current method: */
	struct cf_member method;
	struct cf_code code;
	bool is_init;      /* a constructor of another class than java.lang.Object */
	uint8_t *map;      /* MAP_* flags of each byte of code */
	struct vframe now; /* the types before the current instruction */
	bool changed; /* the locals have changed since the last vf_at_handlers() */
	/* frames in the order of pc: of the stack map or, by inference, of the jump targets */
	struct vframe *frames;
	uint32_t n_frames;
	struct vcells *cells;
	size_t n_cells;
};

/* Records a fault at now.pc, unless a fault is recorded already.  Returns false. */
bool vf_bad(struct verifier *v, const char *what);
bool vf_no_memory(struct verifier *v);
/*
 * Adds steps to the work for this class.  If the work exceeds its limit, returns false with a
 * fault.
 */
bool vf_spend(struct verifier *v, uint64_t steps);

/* Returns n cells, which vf_release() frees, or NULL with a fault recorded. */
struct vtype *vf_cells(struct verifier *v, size_t n);
/* Frees the memory of the current method. */
void vf_release(struct verifier *v);

#endif
