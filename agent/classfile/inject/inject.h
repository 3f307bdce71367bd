/*
 * Instruments methods: inserts calls of hooks (hooks.def) at the entry, at each return and where an
 * exception leaves the method.
 *
 * A hooked method begins with
 *
 *     push id; invokestatic enter; lstore token
 *
 * The token is the result of the hook `enter`.  If cf_probe.values is set, calls of the hooks
 * `arg…` follow, one for each argument; a jump skips these calls if the token is 0.  A call of the
 * hook `exit…` precedes each return; if cf_probe.values is set, the hook gets a copy of the result.
 * A new exception handler, listed after the method's own handlers, catches any exception, calls the
 * hook `fail` and rethrows the exception.
 *
 * The token is stored in a new local variable after the method's own variables, which therefore
 * keep their indexes.  Every frame of the StackMapTable becomes a full frame that includes the
 * token.  Jumps, handlers, stack map frames, line and variable tables get new pcs.  A jump to the
 * method's original first instruction does not execute the call of `enter` again; a jump to a
 * return leads to the call of `exit…` before it.  The new handler covers neither the call of
 * `exit…` nor the return, so a method never calls `fail` after `exit…`.
 *
 * A constructor calls `enter` first.  The code before its call of this() or super() has a separate
 * handler, whose stack map frame has the uninitialised `this`.  In class files with stack maps
 * (version 50 and later), the verifier allows no handler that covers the call of this() or super()
 * itself.  If this() or super() throws, the constructor has called `enter`, but calls neither
 * `exit…` nor `fail`.
 *
 * A method that cannot be instrumented in this way is left unchanged; `refused` of its probe has
 * the reason.  Stack maps are written for class file versions 50 and later.  All attributes are
 * copied, except type annotations in a Code attribute: HotSpot also drops these when it writes the
 * class file of a loaded class for a retransformation.
 *
 * Calls no JNI and has no state; linked into the agent and the client.
 */
#ifndef JTOOL_AGENT_CLASSFILE_INJECT_INJECT_H
#define JTOOL_AGENT_CLASSFILE_INJECT_INJECT_H

#include "classfile/read.h"
#include "classfile/write.h"

/* The reason why a method has no hooks. */
enum cf_refusal {
	CF_HOOKED = 0,
	CF_NOT_FOUND,      /* the class has no method of this name and descriptor */
	CF_NO_CODE,        /* the method is native or abstract */
	CF_ROOT,           /* java.lang.Object's constructor, which all other constructors call */
	CF_TOO_LONG,       /* the code would be longer than 65,535 bytes */
	CF_FAR_JUMP,       /* the distance of a jump would not fit into its 16-bit offset */
	CF_TOO_MANY,       /* more than 65,535 locals, stack slots, handlers or frames */
	CF_MALFORMED,      /* the code, frames or tables are malformed */
	CF_NOT_COMPILED,   /* only the new code would be too long for the JVM's compilers */
};

/* A method to instrument. */
struct cf_probe {
	struct cf_text name, descriptor;
	uint32_t id;  /* passed to the hooks */
	bool values;  /* report arguments and result */
	enum cf_refusal refused; /* output: CF_HOOKED, or why the method has no hooks */
};

/* The maximum number of arguments that are reported; further arguments are ignored. */
#define CF_ARGS_MAX 255

/*
 * Writes to *out the class file in which the methods of the probes have hooks, and sets `refused`
 * of each probe.  Before the call, the caller sets out->mem and zeroes the other members of *out;
 * after the call, the caller calls cf_output_release().  `hooks` is the name of the hooks class
 * ("java/jtool/Hooks1").
 *
 * Returns NULL on success; if no method got hooks, *out is then empty.  On failure leaves *out
 * empty and returns the reason: the constant pool would have more than 65,535 entries, or there is
 * no memory.
 */
const char *cf_inject(const struct cf_class *class, const char *hooks, struct cf_probe *probes,
		      size_t n, struct cf_output *out) __attribute__((warn_unused_result));

/* Returns the predicate of a sentence about the method: "is native or abstract". */
const char *cf_refusal_text(enum cf_refusal refusal);

/* Writes the hooks class, in which every row of hooks.def is a public static native method. */
void cf_hooks_class(const char *name, struct cf_output *out);

#endif
