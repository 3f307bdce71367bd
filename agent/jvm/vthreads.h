/*
 * Virtual threads, as walks along references meet them.
 *
 * From JDK 21 on FollowReferences shows the stack of each java.lang.VirtualThread that it visits,
 * by way of its continuation, and HotSpot crashes over one that is being constructed and has none
 * yet (jvmtiEnvBase.cpp, is_vthread_alive(); seen with 25 and 27).  Whether it has one can only be
 * told in the callback that names it, where it is looked into: at a place that an object of ours,
 * whose fields are known, has confirmed in the same walk.
 */
#ifndef JTOOL_AGENT_JVM_VTHREADS_H
#define JTOOL_AGENT_JVM_VTHREADS_H

#include "jvm/calib.h"
#include "jvm/classes.h"

#define AG_VTHREAD_PROBES 32

/* A field that holds a reference, and whether that is null in our own thread. */
struct ag_vthread_probe {
	uint32_t offset;
	bool is_null;
};

struct ag_vthreads {
	jclass class;    /* one of the list, tagged; NULL: there are no virtual threads */
	uint32_t offset; /* of its field for the continuation */
	jobject own;     /* our thread: the caller's reference */
	struct ag_vthread_probe probes[AG_VTHREAD_PROBES]; /* of java.lang.Thread's fields */
	uint32_t n;
	bool colored;    /* references are generational ZGC's */
};

#define AG_VTHREAD_CLASS INT64_C(-0x76745f63) /* its tag in jvm->ti, as the walk sees it */

/*
 * The class java.lang.VirtualThread among the loaded ones, if JDK 21 or later has initialised it;
 * NULL: it has not, and there are none.  -1 recorded.
 */
int ag_vthreads_find(struct ag_jvm *jvm, const struct ag_classes *classes, jclass *found);

/* What a walk by our thread has to know; -1 recorded.  To be forgotten in any case. */
int ag_vthreads_learn(struct ag_jvm *jvm, const struct ag_classes *classes, jobject own,
		      struct ag_vthreads *threads);
void ag_vthreads_forget(struct ag_jvm *jvm, struct ag_vthreads *threads);

/*
 * In a heap callback: is each field of our own thread where it should be?  If not, virtual threads
 * cannot be looked into, and nothing may be visited.
 */
bool ag_vthreads_certain(struct ag_vthreads *threads);

/*
 * References of four bytes and of eight: of none that is not null the lower half is 0.  Or those
 * of generational ZGC: with a colour in the 16 bits below the address, also where that is null
 * (zAddress.hpp).
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

/* In a heap callback: is this object one that must not be visited? */
static inline bool ag_vthread_is_bad(const struct ag_vthreads *threads, jlong class_tag,
				     uint64_t object)
{
	return class_tag == AG_VTHREAD_CLASS &&
	       ag_vthread_is_null(object, threads->offset, threads->colored);
}

#endif
