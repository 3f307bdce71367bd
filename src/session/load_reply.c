#include "session/load_reply.h"

#include <string.h>

#include "attach/protocol.h"
#include "wire/frame.h"

#define DISABLED "Dynamic agent loading is not enabled"
#define NOT_MAPPED "failed to map segment"

/*
 * Sets the error for a reply that has no return code of the agent.  `text` is the JVM's reason; it
 * is empty in JDK 8.
 */
static int not_loaded(const struct jvm *jvm, const char *text, const char *remedy,
		      struct err *err)
{
	if (strstr(text, DISABLED))
		return err_set(err, EXIT_AGENT,
			       "JVM %d does not accept agents: " DISABLED "; %s", (int)jvm->pid,
			       remedy);
	if (strstr(text, NOT_MAPPED))
		return err_set(err, EXIT_AGENT,
			       "JVM %d cannot map the agent as code: %s; a security module or a "
			       "noexec mount forbids it: permit it, or use --vm or --engine hprof",
			       (int)jvm->pid, text);
	return err_set(err, EXIT_AGENT,
		       "JVM %d did not load jtool's agent: %s; --vm and --engine hprof need no "
		       "agent", (int)jvm->pid,
		       *text ? text : "JDK 8 gives no reason; see the JVM's stderr");
}

static const char *refusal(int code)
{
	switch (code) {
	case WIRE_REFUSED_OPTIONS:
		return "its options are invalid; report this bug";
	case WIRE_REFUSED_MEMORY:
		return "the JVM is out of memory; free some, or raise its limit";
	case WIRE_REFUSED_JVM:
		return "the JVM offers no JVMTI environment; use --vm or --engine hprof";
	case WIRE_REFUSED_CONNECT:
		return "it cannot connect to jtool's socket; a security module may forbid it";
	case WIRE_REFUSED_PEER:
		return "jtool's socket belongs to another user; run jtool as that user or as root";
	case WIRE_REFUSED_THREAD:
		return "the JVM cannot start a thread; allow more (ulimit -u, pids.max)";
	case WIRE_REFUSED_HEAP:
		return "the Java heap is full; jtool heapdump and jtool threads need no agent";
	default:
		return "the reason is unknown; see the JVM's stderr";
	}
}

int load_reply_check(const struct jvm *jvm, int status, const struct buf *output,
		     const char *remedy, struct err *err)
{
	struct load_result result = attach_protocol_load(status, buf_str(output), output->len);

	if (result.loaded)
		return 0;
	if (!result.has_code)
		return not_loaded(jvm, buf_str(output), remedy, err);
	return err_set(err, EXIT_AGENT, "jtool's agent in JVM %d did not start (code %d): %s",
		       (int)jvm->pid, result.code, refusal(result.code));
}
