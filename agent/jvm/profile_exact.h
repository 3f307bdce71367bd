/*
 * Counting every allocation.
 *
 * What is counted where:
 * - java.lang.Object's constructor tells of every object that any constructor made, whoever
 *   called it: bytecode, reflection, method handles, deserialisation, JNI, the VM.
 * - Behind newarray, anewarray and multianewarray, and behind calls of what makes objects without
 *   a constructor and may be an intrinsic of the JIT's (clone, Array.newInstance, Arrays.copyOf
 *   of references, Unsafe.allocate…), instrumented code tells of what was made
 *   (classfile/inject_sites.h).
 * - VMObjectAlloc tells what the VM makes for the natives of the JDK (of which those above are
 *   left out, so that nothing counts twice).
 *
 * Hooks add to tables of their own thread, keyed by the class's hash or by the site of the array:
 * those counts are exact.  How a class's objects divide among stacks is found by walking the
 * stack: for each of the first AG_WALK_ALL of a class, or of an array's site, in a thread, then
 * at random, once in the so-many-th part of what was counted, so that the walks become fewer; each
 * stands for those since the last.  So the sites of a class add up to its exact count.
 *
 * A walk takes hundreds of times longer than counting.  When all of them have taken a second, and
 * a sixteenth of the time since, it is AG_WALK_FEW instead of AG_WALK_ALL, until that is made good.
 *
 * Another thread's table is read while it counts (ag_profile_peek) with relaxed loads.
 */
#ifndef JTOOL_AGENT_JVM_PROFILE_EXACT_H
#define JTOOL_AGENT_JVM_PROFILE_EXACT_H

#include "jvm/profile_state.h"

#define AG_WALK_ALL 1000
#define AG_WALK_FEW 8
#define AG_WALKS_NS 1000000000
#define AG_WALKS_PART 16

/*
 * profile_hooks: the natives (classfile/hooks.def), registered with the others of the class with
 * the hooks.  They do nothing but in the profile that is on.
 */
void JNICALL ag_hook_made(JNIEnv *jni, jclass hooks, jobject object, jint hash);
void JNICALL ag_hook_array(JNIEnv *jni, jclass hooks, jobject array, jint length, jint site);
void JNICALL ag_hook_arrays(JNIEnv *jni, jclass hooks, jobject array, jint site);
void JNICALL ag_hook_result(JNIEnv *jni, jclass hooks, jobject result, jint site);

/* An array-making place in code, by the number that its hook is called with. */
enum ag_place_kind {
	AG_PLACE_ARRAY, AG_PLACE_ARRAYS,
	AG_PLACE_CLONE,         /* invokevirtual: counts if Object's own clone was selected */
	AG_PLACE_CLONE_SPECIAL, /* invokespecial, likewise with `owner` */
	AG_PLACE_RESULT,        /* whatever came back was made there */
};
/*
 * A number for a place, for good: no other ever has it, also of a later profile.  signature: of the
 * array (NULL: known by the object only); owner: of the method called, internal name.  0: no room.
 */
uint32_t ag_hooks_place(struct ag_exact *exact, enum ag_place_kind kind, const char *signature,
			size_t signature_len, const char *owner, size_t owner_len);

/* Hooks count from on() to off(), which waits until none is at work any more. */
void ag_hooks_on(struct ag_profile *profile);
void ag_hooks_off(struct ag_profile *profile);

/*
 * profile_weave: classes get hooks, loaded ones by retransforming those that make arrays, many at
 * a time so that pauses are few, new ones as they are loaded; java.lang.Object last.
 * -1 recorded, and everything is as it was.  out(): all classes are as they were.
 */
struct ag_weaving;
struct ag_weaving *ag_weaving_in(struct ag_jvm *jvm, struct ag_profile *profile);
/* Now and then: classes that could not get hooks as they were loaded get them. */
void ag_weaving_tick(struct ag_jvm *jvm, struct ag_weaving *weaving);
void ag_weaving_out(struct ag_jvm *jvm, struct ag_weaving *weaving, jvmtiError *code);
void ag_weaving_count(const struct ag_weaving *weaving, uint32_t *hooked, uint32_t *refused);
int ag_weaving_notes(const struct ag_weaving *weaving, ag_profile_note_fn *tell, void *arg);
void ag_weaving_free(struct ag_jvm *jvm, struct ag_weaving *weaving);

/* Do the globs name the class of this signature?  Without globs all are wanted. */
bool ag_exact_wants(const struct ag_profile *profile, const char *signature, size_t len);

#endif
