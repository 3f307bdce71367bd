/* The state while one class is instrumented: the class, and the method that is being rewritten. */
#ifndef JTOOL_AGENT_CLASSFILE_INJECT_INJECTION_H
#define JTOOL_AGENT_CLASSFILE_INJECT_INJECTION_H

#include "classfile/code.h"
#include "classfile/descr.h"
#include "classfile/inject/inject_constants.h"
#include "classfile/inject/inject_sites.h"
#include "classfile/stackmap.h"

/* Kinds of values, in the order of the opcodes iload … aload and of the hooks argI … argL. */
enum inj_kind { INJ_I, INJ_J, INJ_F, INJ_D, INJ_L, INJ_VOID };

#define INJ_CODE_MAX UINT16_MAX

/* The current method in the original class. */
struct inj_method {
	struct cf_member member;
	struct cf_code code;
	struct cf_attribute maps; /* StackMapTable of the method; data is NULL if it has none */
	bool with_maps;           /* the class file's version requires stack maps */
	bool is_static, is_init;
	struct cf_text parameters;
	enum inj_kind result;
};

/* The inserted code, and the stack and locals that it needs. */
struct inj_added {
	/*
	 * enter: the calls of the hooks `enter` and `argI` to `argL`; exit: the call of the hook
	 * `exit` or of one of `exitI` to `exitL`.
	 */
	struct cf_output enter, exit;
	/*
	 * Entries sorted by pc: u4 pc, u1 length, and the code to insert before the instruction at
	 * pc.  Jumps to pc skip the inserted code.
	 */
	struct cf_output insertions;
	uint32_t token;  /* index of the new local variable that has the token */
	uint32_t stored; /* offset in `enter` at which the instruction that stores the token ends */
	uint32_t max_stack, max_locals; /* of the complete new code */
};

/* Where the method's own instructions are after the insertion. */
struct inj_layout {
	uint32_t end; /* length of the new code without the new handlers */
	/*
	 * label[old pc] is the new pc to which a jump to the instruction at the old pc must go; or
	 * INJ_NO_PC if no instruction begins at the old pc.
	 */
	uint32_t label[INJ_CODE_MAX + 1];
};
#define INJ_NO_PC UINT32_MAX

/*
 * The new exception handlers, main and early.  Only a constructor has the early one, for the code
 * in which `this` is uninitialised.
 */
struct inj_handlers {
	/* each range has three u2: start, end, and 1 for the early handler or 0 for the main one */
	struct cf_output ranges;
	/* numbers of ranges; n_early is set to 0 if the method shall have no early handler */
	uint32_t n_main, n_early;
	uint32_t main, early;     /* pcs of the handlers; 0: none */
};

struct injection {
	const struct cf_class *class;
	const char *hooks_class;
	struct cf_sites *sites;       /* sites to instrument; NULL: instrument as `probe` says */
	const struct cf_probe *probe; /* probe of the current method */
	struct inj_constants constants;
	struct cf_output body; /* the part of the new class file that follows the constant pool */
	uint64_t work;         /* cost of the stack maps so far; see inj_maps_take_too_long() */

	/* The current method: */
	struct inj_method method;
	struct inj_added added;
	struct inj_layout *layout;
	struct inj_handlers handlers;
	struct cf_map_type *cells; /* room for the local variables of one stack map frame */
};

extern const char inj_no_memory[];

bool inj_open(struct injection *in, const struct cf_class *class, const char *hooks);
void inj_close(struct injection *in);

/*
 * Writes method i of the class, and adds hooks to the method.  `header` points to the original
 * method_info.  Returns false if the method cannot get hooks; the caller then discards the written
 * bytes and copies the method unchanged.
 */
typedef bool inj_put_hooked(struct injection *in, uint32_t i, const uint8_t *header, void *arg);
/*
 * Writes the class to *out, or nothing if no method has hooks.  Returns NULL, or the reason for a
 * failure.
 */
const char *inj_put_class(struct injection *in, inj_put_hooked *put, void *arg,
			  struct cf_output *out);

#endif
