#include "session.h"
#include "startup/startup.h"
#include "wake.h"

/* A mapped file of the JVM that has this symbol is jtool's agent, whatever the file's name is. */
extern JNIEXPORT const char jtool_agent[1];
const char jtool_agent[1];

JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM *vm, char *options, void *reserved);
JNIEXPORT jint JNICALL Agent_OnAttach(JavaVM *vm, char *options, void *reserved);
JNIEXPORT void JNICALL Agent_OnUnload(JavaVM *vm);

jint JNICALL Agent_OnLoad(JavaVM *vm, char *options, void *reserved)
{
	const char *why;

	(void)reserved;
	if (options && *options && ag_startup(vm, options) != JNI_OK)
		return JNI_ERR;
	why = ag_wake_enable(vm);
	if (why)
		ag_startup_error("jtool cannot wake the agent", why, "; the JVM continues");
	return JNI_OK;
}

/*
 * Starts a session.  The JVM calls this function for each attach.  Several sessions may run at the
 * same time; they share no state.
 */
jint JNICALL Agent_OnAttach(JavaVM *vm, char *options, void *reserved)
{
	(void)reserved;
	return ag_session_start(vm, options);
}

/* Does nothing.  The JVM calls it at its shutdown, when an agent must not call JVMTI any more. */
void JNICALL Agent_OnUnload(JavaVM *vm)
{
	(void)vm;
}
