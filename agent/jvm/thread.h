/* The agent's own threads: Java threads called "jtool agent" that do not keep the JVM alive. */
#ifndef JTOOL_AGENT_JVM_THREAD_H
#define JTOOL_AGENT_JVM_THREAD_H

#include "jvm/ti.h"

/* Start one; run(ti, jni, arg) and arg are on their own from then on.  -1: it cannot be. */
int ag_thread_start(struct ag_jvm *jvm, jvmtiStartFunction run, void *arg);

#endif
