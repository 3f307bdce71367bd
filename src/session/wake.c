#include "session/wake.h"

#include <inttypes.h>
#include <poll.h>

#include "base/xalloc.h"
#include "fileio/io.h"
#include "wire/wake.h"

char *wake_request_name(uint64_t address, const char *token)
{
	return xasprintf(WIRE_WAKE_PREFIX "%0*" PRIx64 "-%s", WIRE_WAKE_ADDRESS_LEN, address,
			 token);
}

int wake_agent(const struct jvm *jvm, const struct attach_opts *opts,
	       const struct loaded_agent *agent, int listener, const char *token,
	       struct staged_file **request, struct err *err)
{
	_cleanup_free_ char *name = wake_request_name(agent->address, token);
	const struct staged_file_request staged = {
		.kind = STAGED_SOCKET,
		.socket = name,
		.listener = listener,
		.timeout_ms = opts->timeout_ms,
	};
	const char *const args[] = { "JVMTI.data_dump" };
	const struct attach_request dump = { "jcmd", args, ARRAY_SIZE(args) };
	struct attach_opts confirmed = *opts;
	struct attach_reply reply;
	int code;

	*request = staged_file_new(jvm, &staged, opts->steps, err);
	confirmed.confirm = staged_file_confirm;
	confirmed.confirm_arg = *request;
	if (!*request || attach_execute(jvm, &confirmed, &dump, &reply, err) < 0)
		return -1;
	code = reply.code;
	attach_reply_release(&reply);
	/*
	 * Return 1 if the JVM does not know the command (JDK 8), or if no agent woke: a woken agent
	 * would have connected before the JVM replied.
	 */
	return code == 0 && io_wait(listener, POLLIN, deadline_in_ms(0)) == 0 ? 0 : 1;
}
