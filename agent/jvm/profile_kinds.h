/*
 * Kinds: the classes of what is allocated, by number.  Classes of one name are one kind,
 * whatever their loaders.  Any thread, without a lock.
 *
 * A class is found by the identity hash of its Class object, which bytecode, JNI and JVMTI agree
 * on, and which costs nothing to get.  Two classes may have the same: that is known of each hash
 * (`shared`), if every class was added before its first object was made.
 */
#ifndef JTOOL_AGENT_JVM_PROFILE_KINDS_H
#define JTOOL_AGENT_JVM_PROFILE_KINDS_H

#include "base/arena.h"
#include "jvm/ti.h"

#define AG_KIND_NONE UINT32_MAX

struct ag_kinds; /* in the arena */

struct ag_kinds *ag_kinds_new(struct ag_arena *arena);
/* Lets go of the weak references to classes. */
void ag_kinds_release(struct ag_kinds *kinds, JNIEnv *jni);

/*
 * The kind of a class, added if it is new; AG_KIND_NONE: no room.  *shared: a class of another
 * kind has the same hash (NULL: does not matter).
 */
uint32_t ag_kinds_of(struct ag_kinds *kinds, jvmtiEnv *ti, JNIEnv *jni, jclass class, jint hash,
		     bool *shared);
/* The kind of this signature ("[Ljava/lang/String;"), likewise. */
uint32_t ag_kinds_named(struct ag_kinds *kinds, const char *signature, size_t len);

/* NULL: there is none of this number. */
const char *ag_kinds_signature(const struct ag_kinds *kinds, uint32_t kind);
uint32_t ag_kinds_count(const struct ag_kinds *kinds);

#endif
