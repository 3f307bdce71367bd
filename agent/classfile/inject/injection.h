/* A class that is instrumented, and its current method. */
#ifndef JTOOL_AGENT_CLASSFILE_INJECT_INJECTION_H
#define JTOOL_AGENT_CLASSFILE_INJECT_INJECTION_H

#include "classfile/code.h"
#include "classfile/descr.h"
#include "classfile/inject/inject_constants.h"
#include "classfile/inject/inject_sites.h"
#include "classfile/stackmap.h"

/* Kinds of values, in the order of iload … aload and of the hooks argI … argL. */
enum inj_kind { INJ_I, INJ_J, INJ_F, INJ_D, INJ_L, INJ_VOID };

#define INJ_CODE_MAX UINT16_MAX

/* The method in the original class. */
struct inj_method {
	struct cf_member member;
	struct cf_code code;
	struct cf_attribute maps; /* its StackMapTable; data is NULL if it has none */
	bool with_maps;           /* the class file's version requires stack maps */
	bool is_static, is_init;
	struct cf_text parameters;
	enum inj_kind result;
};

/* The inserted code, and the stack and locals that it needs. */
struct inj_added {
	struct cf_output enter, exit; /* the calls of enter and arg…; the call of exit */
	/* Sorted entries: u4 pc, u1 length, code to insert before pc.  Jumps to pc skip it. */
	struct cf_output insertions;
	uint32_t token;  /* the index of the new local variable */
	uint32_t stored; /* the offset in `enter` after which the token is set */
	uint32_t max_stack, max_locals; /* of the new code */
};

/* Where the method's own instructions are in the new code. */
struct inj_layout {
	uint32_t end; /* length of the new code without the new handlers */
	/* new pc of the target of a jump, by old pc; INJ_NO_PC: no instruction is there */
	uint32_t label[INJ_CODE_MAX + 1];
};
#define INJ_NO_PC UINT32_MAX

/* The new exception handlers.  Only constructors have the early one, for uninitialised `this`. */
struct inj_handlers {
	struct cf_output ranges;  /* each three u2: start, end, 1 for early or 0 for main */
	uint32_t n_main, n_early; /* numbers of ranges; n_early 0: ignore early ones in `ranges` */
	uint32_t main, early;     /* pcs of the handlers; 0: none */
};

struct injection {
	const struct cf_class *class;
	const char *hooks_class;
	struct cf_sites *sites;       /* NULL: methods are instrumented by probes */
	const struct cf_probe *probe; /* the current method's probe */
	struct inj_constants constants;
	struct cf_output body; /* the new class after its constants, so far */
	uint64_t work;         /* cost so far, see inj_maps_take_too_long() */

	/* the current method */
	struct inj_method method;
	struct inj_added added;
	struct inj_layout *layout;
	struct inj_handlers handlers;
	struct cf_map_type *cells; /* room for the locals of one frame */
};

extern const char inj_no_memory[];

bool inj_open(struct injection *in, const struct cf_class *class, const char *hooks);
void inj_close(struct injection *in);

/* Writes the i-th method, at header, with hooks, or returns false to have it copied unchanged. */
typedef bool inj_put_hooked(struct injection *in, uint32_t i, const uint8_t *header, void *arg);
/* Writes the class to *out, or nothing if no method has hooks.  Returns NULL, or why it failed. */
const char *inj_put_class(struct injection *in, inj_put_hooked *put, void *arg,
			  struct cf_output *out);

#endif
