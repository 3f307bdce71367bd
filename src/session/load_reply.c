#include "session/load.h"

#include <string.h>

#include "target/attachproto.h"
#include "wire/frame.h"

#define DISABLED "Dynamic agent loading is not enabled"
#define NOT_MAPPED "failed to map segment"

/* The text of a reply that told no code; JDK 8 sends none. */
static int not_loaded(const struct jvm *jvm, const char *text, struct err *err)
{
	if (strstr(text, DISABLED))
		return err_set(err, EXIT_AGENT,
			       "JVM %d does not let agents in: %s; "
			       "it was started with -XX:-EnableDynamicAgentLoading",
			       (int)jvm->pid, text);
	if (strstr(text, NOT_MAPPED))
		return err_set(err, EXIT_AGENT,
			       "JVM %d may not map the agent as code: %s; "
			       "a security module forbids it, or the mount is noexec",
			       (int)jvm->pid, text);
	return err_set(err, EXIT_AGENT, "JVM %d did not load jtool's agent: %s", (int)jvm->pid,
		       *text ? text : "JDK 8 does not say why, its own stderr may");
}

static const char *refusal(int code)
{
	switch (code) {
	case WIRE_REFUSED_OPTIONS:
		return "it does not understand its options";
	case WIRE_REFUSED_MEMORY:
		return "the JVM has no memory left";
	case WIRE_REFUSED_JVM:
		return "the JVM offers no JVMTI environment";
	case WIRE_REFUSED_CONNECT:
		return "it cannot connect to jtool's socket";
	case WIRE_REFUSED_PEER:
		return "another user listens at jtool's socket";
	case WIRE_REFUSED_THREAD:
		return "the JVM can start no thread";
	default:
		return "for a reason that is not known";
	}
}

int load_check(const struct jvm *jvm, int status, const struct buf *output, struct err *err)
{
	struct load_result result = attachproto_load(status, buf_str(output), output->len);

	if (result.loaded)
		return 0;
	if (!result.has_code)
		return not_loaded(jvm, buf_str(output), err);
	return err_set(err, EXIT_AGENT, "jtool's agent in JVM %d did not start: %s (code %d)",
		       (int)jvm->pid, refusal(result.code), result.code);
}
