/*
 * The agent from the JVM's start on (-agentpath:FILE=alloc,file=OUT): a recording that no
 * client asked for, which the JVM's end, or one who attaches, has told.
 */
#ifndef JTOOL_AGENT_STARTUP_H
#define JTOOL_AGENT_STARTUP_H

#include <jni.h>

struct ag_profile;

/* What Agent_OnLoad returns: 0, or JNI_ERR with a line on stderr, and the JVM does not start. */
jint ag_startup(JavaVM *vm, const char *options);

#endif
