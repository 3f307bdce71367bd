/*
 * The JVM as the agent's thread holds it: the interfaces, and the first thing that went wrong.
 *
 * Every JVMTI call goes through AG_TI.  Functions that can fail return -1 with the error
 * recorded; the session makes an ERROR frame of it.  JVMTI_ERROR_WRONG_PHASE is no error: the
 * JVM is leaving, `stopping` is set, and everything winds up without a word.
 */
#ifndef JTOOL_AGENT_JVM_TI_H
#define JTOOL_AGENT_JVM_TI_H

#include <jvmti.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/mem.h"

struct ag_error {
	const char *what; /* what was tried; NULL: no error.  A constant */
	jvmtiError code;  /* 0: not JVMTI's */
	const char *why;  /* a constant */
};

struct ag_jvm {
	JavaVM *vm;
	jvmtiEnv *ti;
	JNIEnv *jni; /* the agent thread's */
	struct ag_mem *mem;
	struct ag_roster *roster; /* NULL: the client was not told of any class yet */
	struct ag_error err;
	bool stopping;
};

/* Call a JVMTI function: 0, or -1 with the error recorded. */
#define AG_TI(jvm, function, ...) \
	ag_ti_check((jvm), #function, (*(jvm)->ti)->function((jvm)->ti, __VA_ARGS__))
int ag_ti_check(struct ag_jvm *jvm, const char *what, jvmtiError code);

/* Record an error that is not JVMTI's, unless there is one; always -1. */
int ag_fail(struct ag_jvm *jvm, const char *what, const char *why);
int ag_fail_memory(struct ag_jvm *jvm);
/* Forget it: what failed was worth a try only. */
void ag_forgive(struct ag_jvm *jvm);

/* ag_alloc with the error recorded. */
void *ag_jvm_alloc(struct ag_jvm *jvm, size_t n, size_t size) __attribute__((warn_unused_result));

/* Give back what JVMTI allocated; NULL is allowed. */
void ag_ti_free(struct ag_jvm *jvm, void *p);

/* The callbacks of an environment, one of whose events comes from now on, on all threads. */
int ag_ti_listen(struct ag_jvm *jvm, jvmtiEnv *ti, const jvmtiEventCallbacks *callbacks,
		 jvmtiEvent event);

/* The release as JVMTI counts: 1 for JDK 8, then 11, 17, 21, …; -1: error. */
int ag_ti_release(struct ag_jvm *jvm);

int64_t ag_now_ns(void);

#endif
