/* The agent's own threads: Java daemon threads named "jtool agent". */
#ifndef JTOOL_AGENT_JVM_THREAD_H
#define JTOOL_AGENT_JVM_THREAD_H

#include "jvm/jvmti.h"

#define AG_THREAD_NO_OBJECT (-2) /* there is no java.lang.Thread: the Java heap is full */

/*
 * Starts a thread that calls run(jvm->ti, jni, arg).  Returns 0; the thread then owns `arg`.
 * Returns -1 or AG_THREAD_NO_OBJECT if no thread was started.
 */
int ag_thread_start(struct ag_jvm *jvm, jvmtiStartFunction run, void *arg);

#endif
