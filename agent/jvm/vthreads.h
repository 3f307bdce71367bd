/*
 * Virtual threads, as walks along references meet them.
 *
 * From JDK 21 on FollowReferences shows the stack of each java.lang.VirtualThread that it visits,
 * by way of its continuation, and HotSpot crashes over one that is being constructed and has none
 * yet (jvmtiEnvBase.cpp, is_vthread_alive(); seen with 25 and 27).  So a walk visits those alone
 * that were found to have one before, which they keep, and leaves out what has come since.
 */
#ifndef JTOOL_AGENT_JVM_VTHREADS_H
#define JTOOL_AGENT_JVM_VTHREADS_H

#include "jvm/classes.h"

struct ag_vthreads {
	jclass class;   /* one of the list; NULL: there are no virtual threads */
	jobject *whole; /* local references; JVMTI's memory */
	jint n;
};

/* Tags in jvm->ti, as the walk sees them. */
#define AG_VTHREAD_CLASS INT64_C(-0x76745f63)
#define AG_VTHREAD_WHOLE INT64_C(-0x76745f77)

/* Is the object one that must not be visited? */
static inline bool ag_vthread_is_bad(jlong class_tag, jlong tag)
{
	return class_tag == AG_VTHREAD_CLASS && tag != AG_VTHREAD_WHOLE;
}

/*
 * The class java.lang.VirtualThread among the loaded ones, if JDK 21 or later has initialised it;
 * NULL: it has not, and there are none.  -1 recorded.
 */
int ag_vthreads_find(struct ag_jvm *jvm, const struct ag_classes *classes, jclass *found);

/* Tag the class, and those that are whole; -1 recorded.  To be forgotten in any case. */
int ag_vthreads_mark(struct ag_jvm *jvm, const struct ag_classes *classes,
		     struct ag_vthreads *threads);
void ag_vthreads_forget(struct ag_jvm *jvm, struct ag_vthreads *threads);

#endif
