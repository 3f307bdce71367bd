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
 * - VMObjectAlloc reports what the VM allocates for natives of the JDK.  Reports of objects that a
 *   hook counts are ignored, so that no object counts twice.
 *
 * Each thread has a table in which its hooks count, by the hash of the class or by array site.
 * These counts are exact.  Stack walks determine how the objects of a class divide among stacks.
 * Each thread walks the stack for each of the first AG_WALK_ALL objects of a class or array site.
 * After that, the thread counts n/AG_WALK_ALL objects between two walks on average, where n is the
 * number of objects that it has counted of that class or array site.  The numbers are random.  Each
 * walk stands for all objects since the previous walk: they are added to the allocation site that
 * the walk finds.  So the allocation sites of a class add up to its exact count.
 *
 * A walk takes hundreds of times longer than counting.  When all walks together exceed AG_WALKS_NS
 * plus 1/AG_WALKS_PART of the elapsed time, AG_WALK_FEW replaces AG_WALK_ALL until the walks are
 * within this budget again.
 *
 * ag_alloc_profile_peek() reads the tables with atomic loads while their threads count.
 */
#ifndef JTOOL_AGENT_JVM_ALLOC_ALLOC_EXACT_H
#define JTOOL_AGENT_JVM_ALLOC_ALLOC_EXACT_H

#include "jvm/alloc/alloc_state.h"

#define AG_WALK_ALL 1000
#define AG_WALK_FEW 8
#define AG_WALKS_NS 1000000000
#define AG_WALKS_PART 16

/* Kinds of array sites.  A hook gets the number of its site as an argument. */
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
 * even by a later profile.  `signature` is the signature of the array's class, or NULL if the class
 * can differ from object to object.  If the site is a method call, `owner` is the internal name of
 * the class that the call names as owner of the method.
 */
uint32_t ag_array_site_new(struct ag_exact *exact, enum ag_array_site_kind kind,
			   const char *signature, size_t signature_len, const char *owner,
			   size_t owner_len);

/*
 * In alloc_hooks.c: ag_alloc_hooks_on() makes the hooks count in this profile.
 * ag_alloc_hooks_off() makes them stop, and waits until no thread runs a hook.
 */
void ag_alloc_hooks_on(struct ag_alloc_profile *profile);
void ag_alloc_hooks_off(struct ag_alloc_profile *profile);

/*
 * In alloc_instrument*.c: ag_alloc_code_install() adds hooks to classes, ag_alloc_code_remove()
 * restores all classes.  Loaded classes that allocate arrays are retransformed in batches, because
 * each retransformation is a pause; java.lang.Object is retransformed last.  New classes get hooks
 * while they are loaded.  If ag_alloc_code_install() fails, it returns NULL with the error
 * recorded, and all classes are restored.
 */
struct ag_alloc_code;
struct ag_alloc_code *ag_alloc_code_install(struct ag_jvm *jvm, struct ag_alloc_profile *profile);
/* Instruments classes that could not get hooks when they were loaded.  Call this once a second. */
void ag_alloc_code_tick(struct ag_jvm *jvm, struct ag_alloc_code *alloc_code);
void ag_alloc_code_remove(struct ag_jvm *jvm, struct ag_alloc_code *alloc_code, jvmtiError *code);
/* Stores the number of classes that have hooks, and of classes that were refused. */
void ag_alloc_code_count(const struct ag_alloc_code *alloc_code, uint32_t *hooked,
			 uint32_t *refused);
/* Implements ag_alloc_profile_notes() for the limitations that concern instrumented code. */
int ag_alloc_code_notes(const struct ag_alloc_code *alloc_code, ag_alloc_profile_note_fn *report,
			void *arg);
void ag_alloc_code_free(struct ag_jvm *jvm, struct ag_alloc_code *alloc_code);

/* Returns true if a glob matches the class with this signature, or if there are no globs. */
bool ag_exact_wants(const struct ag_alloc_profile *profile, const char *signature, size_t len);

#endif
