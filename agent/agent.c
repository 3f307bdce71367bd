#include "session.h"
#include "startup.h"

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
