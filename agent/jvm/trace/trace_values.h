/*
 * Describes values of the application (wire/value.h) in a hook.  Runs no code of the application,
 * allocates nothing on the Java heap, and leaves no exception pending.
 */
#ifndef JTOOL_AGENT_JVM_TRACE_TRACE_VALUES_H
#define JTOOL_AGENT_JVM_TRACE_TRACE_VALUES_H

#include "jvm/trace/trace.h"

/* Fields of JDK classes; NULL: this JDK does not have the field. */
#define AG_BOXES 8
extern const struct ag_box {
	const char *signature;
	char kind[2]; /* descriptor of the field `value` */
} ag_boxes[AG_BOXES];

struct ag_java_lang {
	jfieldID boxed[AG_BOXES];
	jfieldID enum_name, message;
	jfieldID thread_name, thread_id;
	bool explicit_thread; /* GetStackTrace needs the thread: see ag_value_stack() */
};

/* Looks up the fields.  Returns 0, or -1 with the error recorded. */
int ag_java_lang_init(struct ag_jvm *jvm, struct ag_java_lang *java);

/* A buffer of consecutive values. */
struct ag_values {
	uint8_t *at, *end;
	bool cut; /* something did not fit: nothing more is added */
};

struct ag_value_context {
	const struct ag_java_lang *java;
	jvmtiEnv *ti;
	JNIEnv *jni;
	uint32_t chars, elements;
	const uint32_t *abandoned; /* not 0: the session no longer waits for hooks */
};

/* Adds a value.  kind: as in a descriptor; 'L' also for arrays. */
void ag_value_put(const struct ag_value_context *d, struct ag_values *to, char kind,
		  const jvalue *value);
/* Adds a Throwable, with its message if wanted. */
void ag_value_put_thrown(const struct ag_value_context *d, struct ag_values *to, jobject thrown,
			 bool message);

/* Reads the current thread's name, NUL-terminated, and its id; "" and 0 if it has none. */
void ag_value_thread(const struct ag_value_context *d, char *name, size_t size, uint64_t *id);

/*
 * Reads the current thread's stack, without the hook's frame.  Returns the number of frames.
 *
 * On JDK 19 to 24, GetStackTrace with a NULL thread waits for all virtual threads that are being
 * mounted or unmounted, even for the caller (jvmtiThreadState.cpp, JvmtiVTMSTransitionDisabler),
 * and they may wait for a lock that the caller holds (JDK-8346727).  With the current thread as
 * argument, it waits only for that thread, and only if it is virtual.  Therefore on these JDKs the
 * thread is passed, and java.lang.VirtualThread, whose mount() returns during a transition, gets no
 * hooks when stacks are recorded.
 */
uint32_t ag_value_stack(const struct ag_value_context *d, jvmtiFrameInfo *frames, uint32_t max);

/* Calls of the JVM in a hook.  Errors are not recorded: no session could report them. */

/* Returns false if this thread was suspended until the session and its environment had ended. */
static inline bool ag_hook_has_ti(const struct ag_value_context *d)
{
	return __atomic_load_n(d->abandoned, __ATOMIC_ACQUIRE) == 0;
}

static inline void ag_hook_deallocate(const struct ag_value_context *d, void *p)
{
	if (p && ag_hook_has_ti(d)) /* otherwise it leaks */
		(void)(*d->ti)->Deallocate(d->ti, p);
}

static inline void ag_hook_drop(const struct ag_value_context *d, jobject ref)
{
	if (ref)
		(*d->jni)->DeleteLocalRef(d->jni, ref);
}

/* Clears a pending exception, which the application must not see; returns whether there was one. */
static inline bool ag_hook_threw(const struct ag_value_context *d)
{
	if (!(*d->jni)->ExceptionCheck(d->jni))
		return false;
	(*d->jni)->ExceptionClear(d->jni);
	return true;
}

#endif
