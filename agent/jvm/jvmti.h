/*
 * The interfaces through which an agent thread calls the JVM, and the first error of its calls.
 *
 * Every JVMTI call whose error matters goes through AG_JVMTI.  Functions that can fail return -1
 * with the error recorded, and the session sends the error as an ERROR frame.  The error
 * JVMTI_ERROR_WRONG_PHASE means that the JVM is shutting down: ag_jvmti_check() then sets
 * `stopping`, and the session ends without a message.
 */
#ifndef JTOOL_AGENT_JVM_JVMTI_H
#define JTOOL_AGENT_JVM_JVMTI_H

#include <jvmti.h>
#include <stdbool.h>
#include <stdint.h>

#include "util/clock.h"
#include "util/mem.h"

struct ag_error {
	const char *what; /* name of the failed operation, a constant; NULL: no error */
	jvmtiError code;  /* 0: the error is not from JVMTI */
	const char *why;  /* the reason, a constant */
};

struct ag_jvm {
	JavaVM *vm;
	jvmtiEnv *ti;
	JNIEnv *jni; /* of the agent thread */
	struct ag_mem *mem;
	uint64_t globals;              /* global references not deleted yet, see jni_refs.h */
	struct ag_class_index *class_index; /* NULL: the client has not requested the classes */
	/* entry of the current request in activity.c's table; NULL: no request, or a full table */
	struct ag_activity *activity;
	struct ag_error err;
	bool stopping;
};

/* Calls a JVMTI function.  Returns 0, or -1 with the error recorded. */
#define AG_JVMTI(jvm, function, ...) \
	ag_jvmti_check((jvm), #function, (*(jvm)->ti)->function((jvm)->ti, __VA_ARGS__))
int ag_jvmti_check(struct ag_jvm *jvm, const char *what, jvmtiError code);

/*
 * Record an error that is not from JVMTI, unless an error is recorded already.  Always return -1;
 * they are defined here so that static analysis knows that of their callers.
 */
static inline int ag_fail(struct ag_jvm *jvm, const char *what, const char *why)
{
	if (!jvm->err.what)
		jvm->err = (struct ag_error){ what, JVMTI_ERROR_NONE, why };
	return -1;
}

static inline int ag_fail_memory(struct ag_jvm *jvm)
{
	return ag_fail(jvm, "allocate memory in the JVM's process",
		       "the limit of the agent's memory is reached");
}

/* Discards the recorded error.  Call it after an operation that is allowed to fail. */
void ag_clear_error(struct ag_jvm *jvm);

/* Calls ag_alloc().  If it fails, records the error and returns NULL. */
void *ag_jvm_alloc(struct ag_jvm *jvm, size_t n, size_t size) __attribute__((warn_unused_result));

/* Frees memory that JVMTI allocated; NULL is allowed. */
void ag_jvmti_free(struct ag_jvm *jvm, void *p);

/* Sets the callbacks of the environment `ti`, and enables `event` for all threads. */
int ag_jvmti_listen(struct ag_jvm *jvm, jvmtiEnv *ti, const jvmtiEventCallbacks *callbacks,
		    jvmtiEvent event);

/*
 * Returns the major part of JVMTI's version number: 1 for JDK 8; for later JDKs the release, such
 * as 11.  Returns -1 with the error recorded if JVMTI does not return its version.
 */
int ag_jvmti_release(struct ag_jvm *jvm);

#endif
