/*
 * Virtual threads without a continuation, which FollowReferences must not visit.
 *
 * From JDK 21 on FollowReferences reports the stack of each java.lang.VirtualThread that it visits;
 * it finds the stack through the continuation of the virtual thread.  HotSpot crashes if a virtual
 * thread is under construction and has no continuation yet (jvmtiEnvBase.cpp, is_vthread_alive();
 * seen with JDK 25 and 27).  So the callback of the walk reads the field `cont` of each reported
 * virtual thread, at an offset that is decoded from a jfieldID.  To check the decoding, the walk
 * first decodes and reads fields of the agent's own java.lang.Thread; JNI has already reported
 * which of these fields are null.
 */
#ifndef JTOOL_AGENT_JVM_GRAPH_VTHREADS_H
#define JTOOL_AGENT_JVM_GRAPH_VTHREADS_H

#include "jvm/heap/klass_probe.h"
#include "jvm/classes.h"

#define AG_VTHREAD_PROBES 32

/*
 * A reference field of java.lang.Thread: its offset, and whether the agent's thread has null in it.
 */
struct ag_vthread_probe {
	uint32_t offset;
	bool is_null;
};

struct ag_vthreads {
	jclass class;    /* java.lang.VirtualThread, which is tagged; NULL: no virtual threads */
	uint32_t offset; /* offset of the field `cont` in a virtual thread */
	jobject own;     /* the agent's java.lang.Thread; the reference is borrowed, not owned */
	struct ag_vthread_probe probes[AG_VTHREAD_PROBES];
	uint32_t n; /* number of probes */
	bool colored;    /* the heap's references have the format of generational ZGC */
};

#define AG_VTHREAD_CLASS INT64_C(-0x76745f63) /* tag of java.lang.VirtualThread in jvm->ti */

/*
 * Finds java.lang.VirtualThread among `classes`, and stores the class in *found.  Stores NULL if
 * there cannot be virtual threads, because this is a JDK before 21 or the class is not initialised.
 * Returns 0, or -1 with the error recorded.
 */
int ag_vthreads_find(struct ag_jvm *jvm, const struct ag_classes *classes, jclass *found);

/*
 * Prepares `threads` for a walk that the current thread starts; `own` is the java.lang.Thread of
 * the current thread.  Returns 0, or -1 with the error recorded.  Call ag_vthreads_forget() in any
 * case.
 */
int ag_vthreads_learn(struct ag_jvm *jvm, const struct ag_classes *classes, jobject own,
		      struct ag_vthreads *threads);
void ag_vthreads_forget(struct ag_jvm *jvm, struct ag_vthreads *threads);

/*
 * In a heap callback: checks that each field of the agent's thread has the expected value at its
 * offset.  Returns false if virtual threads cannot be recognised; the walk must then end.
 */
bool ag_vthreads_certain(struct ag_vthreads *threads);

/*
 * Returns true if the reference at this offset of the object is null.  A reference has 4 or 8
 * bytes; reads only its lower 4 bytes, which are 0 in null and in no other reference.  If `colored`
 * is true, reads 8 bytes and ignores the low 16 bits: in each reference, even in null, they are a
 * colour of generational ZGC (zAddress.hpp).
 */
static inline bool ag_vthread_is_null(uint64_t object, uint32_t offset, bool colored)
{
	const char *field = (const char *)(uintptr_t)object + offset;
	uint32_t low;

	if (colored)
		return ag_word_at(field) >> 16 == 0;
	memcpy(&low, field, sizeof(low));
	return low == 0;
}

/*
 * In a heap callback: returns true if the object is a virtual thread without a continuation.
 * HotSpot would crash if the walk visited it.
 */
static inline bool ag_vthread_is_bad(const struct ag_vthreads *threads, jlong class_tag,
				     uint64_t object)
{
	return class_tag == AG_VTHREAD_CLASS &&
	       ag_vthread_is_null(object, threads->offset, threads->colored);
}

#endif
