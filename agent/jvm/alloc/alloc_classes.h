/*
 * Numbers for the classes of profiled objects.  The number is called the kind of the class: classes
 * with the same name have the same kind.  Any thread may call these functions; they take no lock.
 *
 * A class is found by the identity hash of its java.lang.Class, because bytecode, JNI and JVMTI
 * return the same hash, and reading the hash is cheap.  Two classes may have the same hash.
 * ag_alloc_classes_of() detects such classes if each class is added before its first object is
 * allocated.
 */
#ifndef JTOOL_AGENT_JVM_ALLOC_ALLOC_CLASSES_H
#define JTOOL_AGENT_JVM_ALLOC_ALLOC_CLASSES_H

#include "util/arena.h"
#include "jvm/jvmti.h"

#define AG_ALLOC_CLASS_NONE UINT32_MAX

struct ag_alloc_classes; /* allocated in the arena */

/*
 * Creates an empty table in the arena; returns NULL if the arena has no room.  *globals counts the
 * weak global references to the table's classes (ag_ref_weak() in jni_refs.h).
 */
struct ag_alloc_classes *ag_alloc_classes_new(struct ag_arena *arena, uint64_t *globals);
/* Deletes the weak references to the classes. */
void ag_alloc_classes_release(struct ag_alloc_classes *kinds, JNIEnv *jni);

/*
 * Returns the kind of `class`, and adds the class if it is not in the table; returns
 * AG_ALLOC_CLASS_NONE if there is no room.  Unless `shared` is NULL, sets *shared to true if a
 * class of another kind has the same hash, else to false.
 */
uint32_t ag_alloc_classes_of(struct ag_alloc_classes *kinds, jvmtiEnv *ti, JNIEnv *jni,
			     jclass class, jint hash, bool *shared);
/*
 * Returns the kind of the classes with a signature such as "[I", and adds the kind if it is not in
 * the table; returns AG_ALLOC_CLASS_NONE if there is no room.
 */
uint32_t ag_alloc_classes_named(struct ag_alloc_classes *kinds, const char *signature, size_t len);

/* Returns the signature of a kind; NULL if there is no such kind. */
const char *ag_alloc_classes_signature(const struct ag_alloc_classes *kinds, uint32_t kind);
uint32_t ag_alloc_classes_count(const struct ag_alloc_classes *kinds);

#endif
