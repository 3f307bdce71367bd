/*
 * Values of the application, described (wire/value.h) in a hook: nothing of the application runs,
 * nothing is allocated on the Java heap, no exception stays.
 */
#ifndef JTOOL_AGENT_JVM_TRACE_VALUES_H
#define JTOOL_AGENT_JVM_TRACE_VALUES_H

#include "jvm/trace.h"

/* Fields of the JDK's own classes; NULL: this JDK does not have it like that. */
#define AG_BOXES 8
extern const struct ag_box {
	const char *signature;
	char kind[2]; /* the descriptor of the field `value` */
} ag_boxes[AG_BOXES];

struct ag_known {
	jfieldID boxed[AG_BOXES];
	jfieldID enum_name, message;
	jfieldID thread_name, thread_id;
	bool named; /* threads name themselves to ask for their stacks: see ag_value_stack() */
};

/* Look them up; -1: recorded. */
int ag_known_init(struct ag_jvm *jvm, struct ag_known *known);

/* Where values are written, one behind the other. */
struct ag_values {
	uint8_t *at, *end;
	bool cut; /* there was no room: nothing follows any more */
};

/* What it takes to describe them. */
struct ag_describing {
	const struct ag_known *known;
	jvmtiEnv *ti;
	JNIEnv *jni;
	uint32_t chars, elements;
	const uint32_t *left; /* not 0 when the session did not wait for us any longer */
};

/* kind: as in a descriptor; 'L' for arrays, too. */
void ag_value_put(const struct ag_describing *d, struct ag_values *to, char kind,
		  const jvalue *value);
/* A Throwable; its message, if that is wanted. */
void ag_value_put_thrown(const struct ag_describing *d, struct ag_values *to, jobject thrown,
			 bool message);

/* The current thread's name, with a NUL behind it, and its id; "" and 0 where it has none. */
void ag_value_thread(const struct ag_describing *d, char *name, size_t size, uint64_t *id);

/*
 * The current thread's stack without the hook's own frame; the number of frames.
 *
 * On JDK 19 to 24 GetStackTrace of nobody in particular waits for all virtual threads that are
 * being mounted or unmounted, also for the one that calls it (jvmtiThreadState.cpp,
 * JvmtiVTMSTransitionDisabler), and they may wait for a lock that the caller holds (JDK-8346727).
 * Of a thread that names itself it waits for that one alone, and for no other than a virtual one.
 * So threads name themselves there; and where stacks are told no hook is put into
 * java.lang.VirtualThread, whose mount() returns in the middle of that.
 */
uint32_t ag_value_stack(const struct ag_describing *d, jvmtiFrameInfo *frames, uint32_t max);

/* Asking the JVM in a hook: nothing is recorded, there is nobody to tell. */

/* Was the thread held up for so long that the session has gone, and its environment with it? */
static inline bool ag_hook_goes_on(const struct ag_describing *d)
{
	return __atomic_load_n(d->left, __ATOMIC_ACQUIRE) == 0;
}

static inline void ag_hook_give_back(const struct ag_describing *d, void *p)
{
	if (p && ag_hook_goes_on(d)) /* else it is lost */
		(void)(*d->ti)->Deallocate(d->ti, p);
}

static inline void ag_hook_drop(const struct ag_describing *d, jobject ref)
{
	if (ref)
		(*d->jni)->DeleteLocalRef(d->jni, ref);
}

/* Also where none is to be expected: the application must not see one of ours. */
static inline bool ag_hook_threw(const struct ag_describing *d)
{
	if (!(*d->jni)->ExceptionCheck(d->jni))
		return false;
	(*d->jni)->ExceptionClear(d->jni);
	return true;
}

#endif
