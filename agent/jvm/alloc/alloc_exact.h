/*
 * Exact profiles: count every allocation.
 *
 * Where allocations are counted:
 * - The constructor of java.lang.Object calls a hook for each object that a constructor
 *   initialises.  The caller may be bytecode, reflection, a method handle, deserialisation, JNI or
 *   the VM.
 * - Instrumented code calls a hook after newarray, anewarray and multianewarray, and after calls of
 *   methods that allocate without a constructor and may be JIT intrinsics: clone,
 *   Array.newInstance, Arrays.copyOf of references, Unsafe.allocate…
 *   (classfile/inject/inject_sites.h).
 * - The event VMObjectAlloc reports objects that the VM allocates for native methods of the JDK.
 *   A report of an object that a hook counts is ignored, so that no object counts twice.
 *
 * Each thread has a table in which its hooks count objects, by the identity hash of the object's
 * java.lang.Class or by array site.  These counts are exact.
 *
 * Stack walks determine how the objects of a class divide among stacks.  Each thread walks its
 * stack for each of the first AG_WALK_ALL objects that it counts of a class or array site.  After
 * that, the number of objects between two walks is random, n/AG_WALK_ALL on average, where n is the
 * number of objects of that class or array site that the thread has counted so far.
 * All objects since the previous walk are added to the allocation site that the walk finds.  So the
 * objects of a class's allocation sites add up to the exact count of the class.
 *
 * A walk takes hundreds of times longer than counting.  The budget for all walks together is
 * AG_WALKS_NS plus 1/AG_WALKS_PART of the elapsed time.  While the walks exceed this budget,
 * AG_WALK_FEW replaces AG_WALK_ALL.
 *
 * ag_alloc_profile_peek() reads a thread's table with atomic loads while the thread counts.
 */
#ifndef JTOOL_AGENT_JVM_ALLOC_ALLOC_EXACT_H
#define JTOOL_AGENT_JVM_ALLOC_ALLOC_EXACT_H

#include "jvm/alloc/alloc_state.h"

#define AG_WALK_ALL 1000
#define AG_WALK_FEW 8
#define AG_WALKS_NS 1000000000
#define AG_WALKS_PART 16

/* Kinds of array sites.  A hook that is called at an array site gets the site's number. */
enum ag_array_site_kind {
	AG_ARRAY_SITE_ARRAY,         /* newarray, anewarray */
	AG_ARRAY_SITE_ARRAYS,        /* multianewarray */
	/* Calls of clone(), whose result counts only if the call ran Object.clone(): */
	AG_ARRAY_SITE_CLONE,         /* by invokevirtual */
	AG_ARRAY_SITE_CLONE_SPECIAL, /* by invokespecial */
	AG_ARRAY_SITE_RESULT, /* call of a method, other than clone(), that returns a new object */
};
/*
 * Returns a new number for an array site, or 0 if there is no room.  A number is never reused, not
 * even by a later profile.  `signature` is the signature of the array's class; NULL if the site can
 * allocate objects of several classes.  If the site is a method call, `owner` is the internal name
 * of the class that the call names as owner of the method.
 */
uint32_t ag_array_site_new(struct ag_exact *exact, enum ag_array_site_kind kind,
			   const char *signature, size_t signature_len, const char *owner,
			   size_t owner_len);

/*
 * In alloc_hooks.c: ag_alloc_hooks_on() makes the hooks count in this profile.
 * ag_alloc_hooks_off() makes the hooks stop counting, and waits until no thread runs a hook.  If a
 * thread still runs a hook after 10 s, ag_alloc_hooks_off() sets profile->left and returns.
 */
void ag_alloc_hooks_on(struct ag_alloc_profile *profile);
void ag_alloc_hooks_off(struct ag_alloc_profile *profile);

/*
 * In alloc_instrument*.c: ag_alloc_code_install() adds hooks to classes, ag_alloc_code_remove()
 * restores all classes.  Loaded classes that allocate arrays are retransformed in batches, because
 * each call of RetransformClasses pauses the JVM; java.lang.Object is retransformed last.  Classes
 * that are loaded later get hooks while they are loaded.  If ag_alloc_code_install() fails, it
 * restores all classes and returns NULL with the error recorded.  ag_alloc_code_remove() stores in
 * *code the JVM's error if the JVM has not restored a class, else JVMTI_ERROR_NONE.
 */
struct ag_alloc_code;
struct ag_alloc_code *ag_alloc_code_install(struct ag_jvm *jvm, struct ag_alloc_profile *profile);
/* Instruments classes that could not get hooks when they were loaded.  Call this once a second. */
void ag_alloc_code_tick(struct ag_jvm *jvm, struct ag_alloc_code *alloc_code);
void ag_alloc_code_remove(struct ag_jvm *jvm, struct ag_alloc_code *alloc_code, jvmtiError *code);
/* Sets *hooked to the number of classes with hooks, *refused to the number of refused classes. */
void ag_alloc_code_count(const struct ag_alloc_code *alloc_code, uint32_t *hooked,
			 uint32_t *refused);
/* Implements ag_alloc_profile_notes() for the limitations that concern instrumented code. */
int ag_alloc_code_notes(const struct ag_alloc_code *alloc_code, ag_alloc_profile_note_fn *report,
			void *arg);
void ag_alloc_code_free(struct ag_jvm *jvm, struct ag_alloc_code *alloc_code);

/* Returns true if a glob of the profile matches the class, or if the profile has no globs. */
bool ag_exact_wants(const struct ag_alloc_profile *profile, const char *signature, size_t len);

#endif
