/*
 * Virtual threads without a continuation, which FollowReferences must not visit.
 *
 * From JDK 21 on FollowReferences reports the stack of each java.lang.VirtualThread that it visits,
 * using its continuation.  HotSpot crashes if a virtual thread is under construction and has no
 * continuation yet (jvmtiEnvBase.cpp, is_vthread_alive(); seen with JDK 25 and 27).  So the
 * callback that reports a virtual thread reads the field `cont` at its offset.  The way offsets are
 * read is checked in the same walk with the agent's own thread, whose field values are known.
 */
#ifndef JTOOL_AGENT_JVM_GRAPH_VTHREADS_H
#define JTOOL_AGENT_JVM_GRAPH_VTHREADS_H

#include "jvm/heap/klass_probe.h"
#include "jvm/classes.h"

#define AG_VTHREAD_PROBES 32

/* A reference field of java.lang.Thread, and whether it is null in the agent's thread. */
struct ag_vthread_probe {
	uint32_t offset;
	bool is_null;
};

struct ag_vthreads {
	jclass class;    /* tagged; of the class list; NULL: no virtual threads */
	uint32_t offset; /* of its field `cont` */
	jobject own;     /* the agent's thread; the caller owns the reference */
	struct ag_vthread_probe probes[AG_VTHREAD_PROBES];
	uint32_t n; /* number of probes */
	bool colored;    /* references have the format of generational ZGC */
};

#define AG_VTHREAD_CLASS INT64_C(-0x76745f63) /* the tag of the class in jvm->ti */

/*
 * Stores java.lang.VirtualThread from the list if JDK 21 or later has initialised it; otherwise
 * NULL, and there are no virtual threads.  -1 with the error recorded.
 */
int ag_vthreads_find(struct ag_jvm *jvm, const struct ag_classes *classes, jclass *found);

/* Prepares a walk by the current thread; -1: error recorded.  Call forget() in any case. */
int ag_vthreads_learn(struct ag_jvm *jvm, const struct ag_classes *classes, jobject own,
		      struct ag_vthreads *threads);
void ag_vthreads_forget(struct ag_jvm *jvm, struct ag_vthreads *threads);

/*
 * In a heap callback: checks that each field of the agent's thread has the expected value at its
 * offset.  Returns false if virtual threads cannot be recognised; the walk must then end.
 */
bool ag_vthreads_certain(struct ag_vthreads *threads);

/*
 * Reads a reference of 4 or 8 bytes: the lower 4 bytes are 0 only if it is null.  In generational
 * ZGC the low 16 bits are a colour, even of null (zAddress.hpp).
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

/* In a heap callback: returns whether the object must not be visited. */
static inline bool ag_vthread_is_bad(const struct ag_vthreads *threads, jlong class_tag,
				     uint64_t object)
{
	return class_tag == AG_VTHREAD_CLASS &&
	       ag_vthread_is_null(object, threads->offset, threads->colored);
}

#endif
