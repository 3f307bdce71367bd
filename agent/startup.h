/*
 * The agent from the JVM's start on (-agentpath:FILE=alloc,file=OUT): a recording that no
 * client asked for, which the JVM's end, or one who attaches, has told.
 *
 * It begins when the JVM is initialised, before its main class is: earlier no JVM, 8 to 27, lets
 * classes be retransformed, stacks be walked, or sends an event of an allocation.  The thread
 * that comes with it looks after it every second.  At the JVM's end nothing is undone: what there
 * is to that moment is written, and the JVM goes on ending.
 */
#ifndef JTOOL_AGENT_STARTUP_H
#define JTOOL_AGENT_STARTUP_H

#include <jni.h>

/* What Agent_OnLoad returns: 0, or JNI_ERR with a line on stderr, and the JVM does not start. */
jint ag_startup(JavaVM *vm, const char *options);

#endif
