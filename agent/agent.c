#include "session.h"
#include "startup/startup.h"
#include "wake.h"

/* By this symbol jtool recognises its agent among the files that a JVM has mapped. */
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
 * Starts a session.  The JVM calls this function for each attach request.  Several sessions may run
 * at the same time.
 */
jint JNICALL Agent_OnAttach(JavaVM *vm, char *options, void *reserved)
{
	(void)reserved;
	return ag_session_start(vm, options);
}

/* Does nothing: at the JVM's shutdown, when this function runs, an agent must not call JVMTI. */
void JNICALL Agent_OnUnload(JavaVM *vm)
{
	(void)vm;
}
