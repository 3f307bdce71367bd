/*
 * Instruments methods: inserts calls of hooks (hooks.def) at the entry, at each return and where an
 * exception leaves the method.
 *
 * A hooked method begins with
 *
 *     push id; invokestatic enter; lstore token
 *
 * If arguments are wanted, calls of arg… follow; they are skipped if the token is 0.  Each return
 * is preceded by a call of exit, with a copy of the result if that is wanted.  A new handler for
 * any exception, after all others, calls fail and rethrows.
 *
 * The token is a new local variable after those of the method, so none of these is renumbered.
 * Every frame of the StackMapTable becomes a full frame that includes the token.  Jumps, handlers,
 * frames, line and variable tables are relocated.  A jump to the first instruction skips the call
 * of enter; a jump to a return leads to the call of exit.  The new handler covers neither the call
 * of exit nor the return, so no call is reported twice.
 *
 * A constructor calls enter first.  Before it calls this() or super(), it has a separate handler,
 * whose frame has the uninitialised `this`.  In class files with stack maps (version 50 and later),
 * the verifier allows no handler for this() and super() themselves.  If one of them throws, the
 * constructor is reported as entered and never as left, neither by exit nor by fail.
 *
 * A method that cannot be instrumented exactly is left unchanged, with the reason in its probe.
 * Stack maps are written for class file versions 50 and later.  Attributes are copied, except type
 * annotations in a Code attribute: HotSpot omits these, too, when it reconstitutes a class file.
 *
 * Calls no JNI and has no state; linked into the agent and the client.
 */
#ifndef JTOOL_AGENT_CLASSFILE_INJECT_INJECT_H
#define JTOOL_AGENT_CLASSFILE_INJECT_INJECT_H

#include "classfile/read.h"
#include "classfile/write.h"

/* Why a method is not hooked. */
enum cf_refusal {
	CF_HOOKED = 0,
	CF_NOT_FOUND,      /* the class has no method of this name and descriptor */
	CF_NO_CODE,        /* native or abstract */
	CF_ROOT,           /* java.lang.Object's constructor, which all others call */
	CF_TOO_LONG,       /* the code would be longer than 65,535 bytes */
	CF_FAR_JUMP,       /* a jump offset would exceed its 16 bits */
	CF_TOO_MANY,       /* more than 65,535 locals, stack slots, handlers or frames */
	CF_MALFORMED,      /* the code, frames or tables are malformed */
};

/* A method to instrument. */
struct cf_probe {
	struct cf_text name, descriptor;
	uint32_t id;  /* passed to the hooks */
	bool values;  /* report arguments and result */
	enum cf_refusal refused; /* out */
};

/* The maximum number of arguments that are reported; further ones are ignored. */
#define CF_ARGS_MAX 255

/*
 * Writes the class with hooks in the probes' methods to *out, and sets the probes' `refused`.  The
 * caller zeroes *out except for `mem`, and releases it.  hooks is the name of the class with the
 * hooks ("java/jtool/Hooks1").
 *
 * Returns NULL on success; *out is then empty if no method is hooked.  On failure returns the
 * reason, which is "the constant pool would have more than 65,535 entries" or a lack of memory, and
 * leaves *out empty.
 */
const char *cf_inject(const struct cf_class *class, const char *hooks, struct cf_probe *probes,
		      size_t n, struct cf_output *out) __attribute__((warn_unused_result));

/* Returns the predicate of a sentence about the method: "is native or abstract". */
const char *cf_refusal_text(enum cf_refusal refusal);

/* Writes the class with the hooks: every row of hooks.def is a public static native method. */
void cf_hooks_class(const char *name, struct cf_output *out);

#endif
