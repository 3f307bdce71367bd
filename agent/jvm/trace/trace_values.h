/*
 * Describes values of the application, such as arguments and results, in the format of
 * wire/value.h.  Hooks call these functions.  The functions run no code of the application,
 * allocate nothing on the Java heap, and leave no exception pending.
 */
#ifndef JTOOL_AGENT_JVM_TRACE_TRACE_VALUES_H
#define JTOOL_AGENT_JVM_TRACE_TRACE_VALUES_H

#include "jvm/trace/trace.h"

/* The classes whose instances box a primitive value, such as java.lang.Integer. */
#define AG_BOXES 8
extern const struct ag_box {
	const char *signature;
	char kind[2]; /* descriptor of the field `value` */
} ag_boxes[AG_BOXES];

/* The fields of JDK classes that hooks read.  NULL: this JDK does not have the field. */
struct ag_java_lang {
	jfieldID boxed[AG_BOXES];
	jfieldID enum_name, message;
	jfieldID thread_name, thread_id;
	bool explicit_thread; /* ag_value_stack() must pass the thread to GetStackTrace */
};

/* Looks up the fields.  Returns 0, or -1 with the error recorded. */
int ag_java_lang_init(struct ag_jvm *jvm, struct ag_java_lang *java);

/* A buffer to which values are added one after the other. */
struct ag_values {
	uint8_t *at, *end;
	bool cut; /* a value did not fit, so no further value is added */
};

struct ag_value_context {
	const struct ag_java_lang *java;
	jvmtiEnv *ti;
	JNIEnv *jni;
	uint32_t chars, elements;  /* limits: chars of a String, elements of an array */
	const uint32_t *abandoned; /* *abandoned is 1: the session no longer waits for hooks */
};

/* Adds a value.  `kind` is the first letter of the type's descriptor, or 'L' for an array. */
void ag_value_put(const struct ag_value_context *d, struct ag_values *to, char kind,
		  const jvalue *value);
/* Adds a Throwable, with its detail message if `message` is true. */
void ag_value_put_thrown(const struct ag_value_context *d, struct ag_values *to, jobject thrown,
			 bool message);

/* Stores the name of the current thread, with a NUL, and its id; "" and 0 if they are unknown. */
void ag_value_thread(const struct ag_value_context *d, char *name, size_t size, uint64_t *id);

/*
 * Reads up to `max` frames of the current thread's stack, without the hook's frame.  Returns the
 * number of frames.
 *
 * On JDK 19 to 24, GetStackTrace(NULL) waits until no virtual thread, not even the caller, is being
 * mounted or unmounted (jvmtiThreadState.cpp, JvmtiVTMSTransitionDisabler).  Such a virtual thread
 * may itself wait for a lock that the caller holds (JDK-8346727), so the wait might never end.
 * GetStackTrace(current thread) waits only for the current thread, and only if it is virtual.  So
 * on these JDKs the agent passes the current thread.
 *
 * One deadlock remains: VirtualThread.mount() returns while the current thread is still being
 * mounted, so in a hook of mount() GetStackTrace would wait for the current thread forever.
 * java.lang.VirtualThread therefore gets no hooks if stacks are recorded.
 */
uint32_t ag_value_stack(const struct ag_value_context *d, jvmtiFrameInfo *frames, uint32_t max);

/*
 * Hooks use the functions below to call the JVM.  These functions do not record errors, because the
 * session that would report an error may have ended.
 */

/*
 * Returns true if d->ti may be used.  d->ti is invalid if the session has ended while this thread
 * was suspended in the hook.
 */
static inline bool ag_hook_has_ti(const struct ag_value_context *d)
{
	return __atomic_load_n(d->abandoned, __ATOMIC_ACQUIRE) == 0;
}

static inline void ag_hook_deallocate(const struct ag_value_context *d, void *p)
{
	if (p && ag_hook_has_ti(d)) /* else d->ti is invalid, and `p` leaks */
		(void)(*d->ti)->Deallocate(d->ti, p);
}

static inline void ag_hook_drop(const struct ag_value_context *d, jobject ref)
{
	if (ref)
		(*d->jni)->DeleteLocalRef(d->jni, ref);
}

/*
 * If an exception is pending, clears it, because the application must not see an exception that a
 * hook has caused.  Returns true if an exception was pending.
 */
static inline bool ag_hook_threw(const struct ag_value_context *d)
{
	if (!(*d->jni)->ExceptionCheck(d->jni))
		return false;
	(*d->jni)->ExceptionClear(d->jni);
	return true;
}

#endif
