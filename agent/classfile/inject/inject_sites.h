/*
 * Instruments allocations: inserts calls of the hooks `made`, `array`, `arrays` and `result`
 * (hooks.def).
 *
 * - java.lang.Object's constructor begins with
 *       aload_0; aload_0; invokevirtual getClass; invokevirtual hashCode; invokestatic made
 * - After newarray and anewarray:  dup; dup; arraylength; push id; invokestatic array
 * - After multianewarray:  dup; push id; invokestatic arrays
 * - After a call of a method of allocators.def:  dup; push id; invokestatic result
 *   These methods allocate objects without a constructor.  The JIT compiler may replace a method
 *   with its own code, and hooks in the body would then not be executed.  So the calls have hooks,
 *   and the bodies have none.
 * - Before toString() of a StringBuilder:  dup; iconst_0; invokestatic result
 *   C2 compiles `new StringBuilder().append(…)…toString()` without these calls
 *   (OptimizeStringConcat), unless the builder escapes.  Passing it to a hook makes it escape.
 *   The id 0 means that this call of the hook belongs to no site.
 *
 * Frames of the StackMapTable only get new pcs, because inserted code leaves the stack as it was.
 * A jump to the instruction after a site skips the hook.  Exception handlers cover the same
 * instructions of the method as before; it does not matter whether they cover inserted code,
 * because hooks throw nothing.  As in inject.h, a method that cannot be instrumented in this way is
 * left unchanged, and type annotations of a Code are dropped.  Calls no JNI and has no state.
 */
#ifndef JTOOL_AGENT_CLASSFILE_INJECT_INJECT_SITES_H
#define JTOOL_AGENT_CLASSFILE_INJECT_INJECT_SITES_H

#include "classfile/inject/inject.h"

enum cf_site_kind {
	CF_SITE_ARRAY,         /* newarray, anewarray */
	CF_SITE_ARRAYS,        /* multianewarray */
	CF_SITE_CLONE,         /* invokevirtual of clone()Ljava/lang/Object; of a class or array */
	CF_SITE_CLONE_SPECIAL, /* invokespecial of clone()Ljava/lang/Object; */
	CF_SITE_RESULT,        /* a call of any other method that allocators.def lists */
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
	bool sun_unsafe; /* this is JDK 8, whose sun.misc.Unsafe allocates instances itself */
	/* Output: */
	uint32_t roots;   /* constructors of java.lang.Object that got a hook */
	uint32_t kept;    /* calls of StringBuilder.toString() that got a hook */
	uint32_t hooked;  /* sites that got a hook */
	uint32_t refused; /* methods that have a site, but are left unchanged */
	enum cf_refusal why; /* why the last of these methods was left unchanged */
};

/* Writes the class with hooks at its sites to *out.  Otherwise like cf_inject(), see inject.h. */
const char *cf_inject_sites(const struct cf_class *class, const char *hooks,
			    struct cf_sites *sites, struct cf_output *out)
	__attribute__((warn_unused_result));

/*
 * Returns true if the class may have a site, or a toString() of a StringBuilder.  Looks only at the
 * instructions, which takes microseconds; ignores java.lang.Object's constructor.
 */
bool cf_has_sites(const struct cf_class *class);

#endif
