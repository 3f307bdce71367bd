/*
 * Instruments allocations: inserts calls of the hooks `made`, `array`, `arrays` and `result`
 * (hooks.def).
 *
 * - java.lang.Object's constructor begins with
 *       aload_0; aload_0; invokevirtual getClass; invokevirtual hashCode; invokestatic made
 * - After newarray and anewarray:  dup; dup; arraylength; push id; invokestatic array
 * - After multianewarray:  dup; push id; invokestatic arrays
 * - After a call of clone() or of a method of allocators.def:  dup; push id; invokestatic result
 *   These methods allocate objects without calling a constructor.  C2 may compile a call of such a
 *   method as an intrinsic, which does not execute the method's body or hooks in it.  So the calls
 *   get hooks, and the bodies get none.
 * - Before toString() of a StringBuilder:  dup; iconst_0; invokestatic result
 *   If the builder does not escape, C2 replaces `new StringBuilder().append(…)…toString()` with
 *   code that calls no constructor and no method (OptimizeStringConcat), and so no hook.  The
 *   builder escapes if it is passed to a hook.  The id 0 means that this call of `result` belongs
 *   to no site.
 *
 * Frames of the StackMapTable only get new pcs, because inserted code leaves the stack as it was.
 * A jump to the instruction after a site skips the hook.  Exception handlers cover the same
 * instructions of the method as before; it does not matter whether they also cover inserted code,
 * because hooks throw nothing.  As in inject.h, a method that cannot be instrumented in this way is
 * left unchanged, and type annotations in a Code attribute are dropped.  Calls no JNI and has no
 * state.
 */
#ifndef JTOOL_AGENT_CLASSFILE_INJECT_INJECT_SITES_H
#define JTOOL_AGENT_CLASSFILE_INJECT_INJECT_SITES_H

#include "classfile/inject/inject.h"

enum cf_site_kind {
	CF_SITE_ARRAY,         /* newarray, anewarray */
	CF_SITE_ARRAYS,        /* multianewarray */
	CF_SITE_CLONE,         /* invokevirtual of clone()Ljava/lang/Object; of a class or array */
	CF_SITE_CLONE_SPECIAL, /* invokespecial of clone()Ljava/lang/Object; */
	CF_SITE_RESULT,        /* a call of a method that allocators.def lists */
};

struct cf_site {
	enum cf_site_kind kind;
	/*
	 * The class name of the allocated array consists of `dimensions` brackets '[', followed by
	 * `primitive` or, if that is 0, by `element`.  `dimensions` is 1 for newarray and
	 * anewarray; it is 0 for multianewarray, whose `element` has all brackets.
	 */
	uint32_t dimensions;
	char primitive;         /* for newarray: the element type, such as 'I'; else 0 */
	struct cf_text element; /* for anewarray and multianewarray: "a/b/C" or "[[I" */
	struct cf_text owner;    /* class of the called method: an internal name, or "[I" */
	struct cf_text method;   /* the method that has the instruction */
	uint32_t pc;             /* pc of the instruction */
};

struct cf_sites {
	/* Returns the id to pass to the hook, or 0 if the site shall get no hook. */
	uint32_t (*id)(void *arg, const struct cf_site *site);
	void *arg;
	bool made;       /* add the hook `made` to java.lang.Object's constructor */
	bool strings;    /* add hooks before toString() of StringBuilders */
	/* true on JDK 8: use the rows JDK_8 of allocators.def (sun.misc.Unsafe), not JDK_9 */
	bool sun_unsafe;
	/* Output: */
	uint32_t roots;   /* constructors of java.lang.Object that got a hook */
	uint32_t kept;    /* calls of StringBuilder.toString() that got a hook */
	uint32_t hooked;  /* sites that got a hook */
	uint32_t refused; /* methods that have a site, but are left unchanged */
	enum cf_refusal why; /* why the last method that `refused` counts was left unchanged */
};

/*
 * Writes to *out the class file in which the sites have hooks.  *out, `hooks` and the result are as
 * in cf_inject(), see inject.h.
 */
const char *cf_inject_sites(const struct cf_class *class, const char *hooks,
			    struct cf_sites *sites, struct cf_output *out)
	__attribute__((warn_unused_result));

/*
 * Returns true if the class may have a site, or a call of StringBuilder.toString().  Takes only
 * microseconds, because it looks only at the instructions.  Does not check whether the class is
 * java.lang.Object, whose constructor also gets a hook.
 */
bool cf_has_sites(const struct cf_class *class);

#endif
