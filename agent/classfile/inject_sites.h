/*
 * Instrumenting what makes objects: calls of hooks (hooks.def: made, array, arrays, result).
 *
 * - java.lang.Object's constructor begins with
 *       aload_0; aload_0; invokevirtual getClass; invokevirtual hashCode; invokestatic made
 * - Behind newarray and anewarray:  dup; dup; arraylength; push id; invokestatic array
 * - Behind multianewarray:          dup; push id; invokestatic arrays
 * - Behind a call of one of the methods of allocators.def: dup; push id; invokestatic result.
 *   They make objects without a constructor, and the JIT may put its own code in their place;
 *   so within these methods themselves nothing is hooked.
 * - Before toString() of a StringBuilder:  dup; iconst_0; invokestatic result
 *   C2 makes a string of `new StringBuilder().append(…)…toString()` without calling any of it
 *   (OptimizeStringConcat), unless somebody else sees the builder; 0 is the number of no place.
 *
 * No frame changes but in its place: what is put behind an instruction leaves the stack as it
 * was.  A jump to the instruction behind leads behind the hook.  Handlers cover what they
 * covered; hooks throw nothing.  As in inject.h: what cannot be done exactly is not done, and
 * that method is left as it was; type annotations of a Code are left out; pure.
 */
#ifndef JTOOL_CLASSFILE_INJECT_SITES_H
#define JTOOL_CLASSFILE_INJECT_SITES_H

#include "classfile/inject.h"

enum cf_site_kind {
	CF_SITE_ARRAY,         /* newarray, anewarray */
	CF_SITE_ARRAYS,        /* multianewarray */
	CF_SITE_CLONE,         /* invokevirtual of clone()Ljava/lang/Object;, also of arrays */
	CF_SITE_CLONE_SPECIAL, /* invokespecial of it */
	CF_SITE_RESULT,        /* any other method of allocators.def */
};

struct cf_site {
	enum cf_site_kind kind;
	/* the array's class: so many brackets, then this ("I", "a/b/C", "[[I") */
	uint32_t dimensions;    /* 1; 0: multianewarray, whose constant has them all, or a call */
	char primitive;         /* 'I' …; 0: */
	struct cf_text element; /* the constant: an internal name, or a descriptor with brackets */
	struct cf_text owner;    /* of the method that is called: an internal name, or "[I" */
	struct cf_text method;   /* in which it stands */
	uint32_t pc;
};

struct cf_sites {
	/* The id that the hook is to be called with; 0: this one is left alone. */
	uint32_t (*id)(void *arg, const struct cf_site *site);
	void *arg;
	bool made;       /* hook java.lang.Object's constructor, if it is that class */
	bool strings;    /* show StringBuilders before toString(): all strings are to be seen */
	bool sun_unsafe; /* JDK 8: sun.misc.Unsafe makes instances itself, and calls no other */
	/* out */
	uint32_t roots;   /* constructors of java.lang.Object */
	uint32_t kept;    /* strings' ends */
	uint32_t hooked;  /* places */
	uint32_t refused; /* methods that were left as they are, though they have such a place */
	enum cf_refusal why; /* of the last of these */
};

/*
 * The class with hooks at its sites, in *out, as cf_inject() does it.  NULL when done; *out is
 * empty if there was nothing to hook.
 */
const char *cf_inject_sites(const struct cf_class *class, const char *hooks,
			    struct cf_sites *sites, struct cf_output *out)
	__attribute__((warn_unused_result));

/*
 * May the class have such a place at all, or a string's end?  From its instructions alone, some
 * microseconds; java.lang.Object's constructor does not count.
 */
bool cf_has_sites(const struct cf_class *class);

#endif
