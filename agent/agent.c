#include "session.h"
#include "startup.h"

/* By this symbol jtool knows its agent among what a JVM has mapped, whatever the file is called. */
extern JNIEXPORT const char jtool_agent[1];
const char jtool_agent[1];

JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM *vm, char *options, void *reserved);
JNIEXPORT jint JNICALL Agent_OnAttach(JavaVM *vm, char *options, void *reserved);
JNIEXPORT void JNICALL Agent_OnUnload(JavaVM *vm);

jint JNICALL Agent_OnLoad(JavaVM *vm, char *options, void *reserved)
{
	(void)reserved;
	return ag_startup(vm, options);
}

/* Several attaches may be in one JVM at a time; they share nothing. */
jint JNICALL Agent_OnAttach(JavaVM *vm, char *options, void *reserved)
{
	(void)reserved;
	return ag_session_start(vm, options);
}

/* The JVM is gone: there is nothing left to undo, and no call that could do it. */
void JNICALL Agent_OnUnload(JavaVM *vm)
{
	(void)vm;
}
