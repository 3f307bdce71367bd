/*
 * The state of cf_verify(): the current types, the frames of the method, the fault, and the work
 * done so far.  A frame consists of the types on the stack and in the local variables at one pc.
 */
#ifndef JTOOL_AGENT_CLASSFILE_VERIFY_VERIFY_STATE_H
#define JTOOL_AGENT_CLASSFILE_VERIFY_VERIFY_STATE_H

#include "classfile/code.h"
#include "classfile/descr.h"
#include "classfile/verify/verify.h"
#include "classfile/versions.h"

/*
 * The verification type of a cell, which is a local variable or stack slot (JVMS 4.10.1.2).  A long
 * or double takes two cells.
 */
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
	V_ADDRESS, /* a return address; vtype.at: pc at which the subroutine begins */
	V_OBJECT,  /* an object, or an array of objects */
	V_PRIMS,   /* an array of primitives; vtype.at: descriptor letter of the element type */
	V_ANY,     /* any type: the real type depends on which jsr called the subroutine */
};

struct vtype {
	/* V_OBJECT: position of the class name in the class file; other kinds: see enum vkind */
	uint32_t at;
	uint16_t len; /* length of the class name; 0: the class is unknown */
	uint8_t dims; /* number of dimensions of an array; 0: not an array */
	uint8_t kind;
};

/* The types on the stack and in the local variables before an instruction. */
struct vframe {
	struct vtype *locals, *stack;
	uint32_t pc, n_stack;
	uint32_t n_locals; /* number of locals that a stack map lists; further locals are V_TOP */
	bool uninit;       /* the constructor has not called this() or super() yet */
	bool filled;       /* for type inference: the types are set */
	bool pending;      /* for type inference: the types changed, so follow the code from `pc` */
};

/* Flags that each byte of the code has. */
enum {
	MAP_INSN = 1,   /* an instruction begins at this byte */
	MAP_NEW = 2,    /* that instruction is `new` */
	MAP_JSR = 4,    /* that instruction is jsr or jsr_w */
	MAP_TARGET = 8, /* a jump, a ret or an exception can transfer control to this byte */
	MAP_RANGE = 16, /* the range of an exception handler begins at this byte */
};

struct verifier {
	const struct cf_class *class;
	const struct cf_pool *pool;
	struct cf_fault *fault;
	struct vtype this_type, super_type;
	bool infer;    /* verify the types by inference, not with stack maps */
	bool lenient;  /* the method has a jsr: two types that differ are merged to V_ANY */
	uint64_t work; /* number of steps so far; vf_spend() checks the limit */

	/* The current method: */
	struct cf_member method;
	struct cf_code code;
	bool is_init;      /* the method is a constructor, but not that of java.lang.Object */
	uint8_t *map;      /* the MAP_* flags of each byte of the code */
	struct vframe now; /* the types before the current instruction */
	bool changed; /* the locals have changed since the last vf_at_handlers() */
	/* the frames of the stack map, or with `infer` those of the jump targets; sorted by pc */
	struct vframe *frames;
	uint32_t n_frames;
	struct vcells *cells;
	size_t n_cells;
};

/* Records a fault at now.pc, unless a fault is recorded already. */
void vf_fault(struct verifier *v, const char *what);
/* Records a fault, and returns false. */
static inline bool vf_bad(struct verifier *v, const char *what)
{
	vf_fault(v, what);
	return false;
}

bool vf_no_memory(struct verifier *v);
/*
 * Adds `steps` to the work for this class.  Returns true; or false with a fault recorded if the
 * work exceeds its limit.
 */
bool vf_spend(struct verifier *v, uint64_t steps);

/* Returns n cells, which vf_release() frees; or NULL with a fault recorded. */
struct vtype *vf_cells(struct verifier *v, size_t n);
/* Frees the memory of the current method. */
void vf_release(struct verifier *v);

#endif
