/*
 * Instrumenting methods: calls of hooks (hooks.def) at the entry, at each return and at each
 * exceptional exit.
 *
 * A method that is hooked begins with
 *
 *     push id; invokestatic enter; lstore token
 *
 * and, if its arguments are wanted, `token != 0 ? each argument to its arg…`.  Each return is
 * preceded by a call of exit, with a copy of the result if that is wanted; and a handler for any
 * exception, behind all others, calls fail and throws on.  The token is a new local variable
 * behind the method's own, so that no index changes; every frame of the StackMapTable is written
 * anew, in full, with it.  Jumps, handlers, frames and tables of lines and variables lead to
 * where their instructions went.  A jump to the first instruction leads behind the entry's hook,
 * one to a return leads to the exit's hook.  So that no call is told of twice, an exit's hook and
 * its return are outside of what the handler covers.
 *
 * A constructor calls enter first of all.  Before it calls this() or super() there is a handler of
 * its own, whose frame has the uninitialised `this`.  What this() or super() itself throws passes
 * by both handlers in class files with stack maps (version 50 and later): the verifier allows none
 * there.  Such a call is entered and never left, neither by exit nor by fail.
 *
 * What cannot be done exactly is not done: that method is left as it was, with the reason in its
 * probe.  The version is not looked at but for whether stack maps are wanted (50 and later).
 * Attributes are copied as they are, but for a Code's type annotations, which are left out: so
 * does the JVM.
 *
 * Pure: no JNI, no state; linked into the agent and into jtool.
 */
#ifndef JTOOL_CLASSFILE_INJECT_H
#define JTOOL_CLASSFILE_INJECT_H

#include "classfile/read.h"
#include "classfile/write.h"

/* Why a method is not hooked. */
enum cf_refusal {
	CF_HOOKED = 0,
	CF_NOT_FOUND,      /* the class has no method of this name and descriptor */
	CF_NO_CODE,        /* native or abstract */
	CF_ROOT,           /* java.lang.Object's constructor, which every other one calls */
	CF_TOO_LONG,       /* its code would be longer than 65,535 bytes */
	CF_FAR_JUMP,       /* a jump would be longer than its instruction can say */
	CF_TOO_MANY,       /* its locals, stack, handlers or frames would be more than 65,535 */
	CF_MALFORMED,      /* its code, frames or tables make no sense */
};

/* A method to be hooked. */
struct cf_probe {
	struct cf_text name, descriptor;
	uint32_t id;  /* what the hooks are told */
	bool values;  /* tell arguments and result */
	enum cf_refusal refused; /* out */
};

/* How many of a method's arguments are told at most: the rest is passed over. */
#define CF_ARGS_MAX 255

/*
 * The class with the probes' methods hooked, in *out, which the caller has zeroed but for `mem`
 * and releases.  hooks is the name of the class with the hooks ("java/jtool/Hooks1").
 *
 * NULL when done: then *out is a whole class file, or empty if no method was hooked.  Else why it
 * cannot be done for this class at all, "the constant pool would have more than 65,535 entries"
 * or no memory; then *out is empty, too.
 */
const char *cf_inject(const struct cf_class *class, const char *hooks, struct cf_probe *probes,
		      size_t n, struct cf_output *out) __attribute__((warn_unused_result));

/* What a refusal says behind the method's name: "is native or abstract". */
const char *cf_refusal_text(enum cf_refusal refusal);

/*
 * The class file of the class with the hooks: public, final, no fields, no constructor, every
 * hook of hooks.def as a public static native method.
 */
void cf_hooks_class(const char *name, struct cf_output *out);

#endif
