#include "session/agent_load.h"

#include <string.h>

#include "base/xalloc.h"
#include "session/load_reply.h"

int agent_load(const struct jvm *jvm, const struct attach_opts *opts, const struct agent_load *load,
	       struct err *err)
{
	_cleanup_free_ char *options = xasprintf("%s,%s", load->socket_path, load->token);
	const char *const args[] = { load->file, "true", options };
	const struct attach_request request = { "load", args, ARRAY_SIZE(args) };
	/* The first LOAD_REPLY_MAX bytes of a reply suffice: they have the reason of a failure. */
	const struct attach_opts load_opts = {
		.timeout_ms = opts->timeout_ms,
		.steps = opts->steps,
		.max = LOAD_REPLY_MAX,
		.cut = true,
		.confirm = opts->confirm,
		.confirm_arg = opts->confirm_arg,
	};
	_cleanup_buf_ struct buf output = BUF_INIT;
	struct attach_reply reply;
	int rc;

	if (attach_execute(jvm, &load_opts, &request, &reply, err) < 0)
		return -1;
	rc = spool_text(&reply.output, &output, LOAD_REPLY_MAX);
	if (rc == 0)
		rc = load_reply_check(jvm, reply.code, &output, load->remedy, err);
	else
		rc = err_set(err, EXIT_AGENT,
			     "cannot read the JVM's reply to the request to load the agent: %s; "
			     "try again", strerror(-rc));
	attach_reply_release(&reply);
	return rc;
}

int agent_load_own(const struct jvm *jvm, const struct attach_opts *opts,
		   const struct loaded_agents *images, const char *staged, struct agent_load load,
		   struct err *err)
{
	const struct loaded_agent *mapped = loaded_agents_own(images);
	struct err refused = { 0 };
	int rc;

	if (mapped && strcmp(mapped->path, staged) != 0 && !images->musl) {
		load.file = mapped->path;
		rc = agent_load(jvm, opts, &load, &refused);
		/* After a timeout, the JVM may still load this library, so load no second one. */
		if (rc < 0 && refused.code != EXIT_AGENT)
			*err = refused;
		if (rc == 0 || refused.code != EXIT_AGENT)
			return rc;
	}
	load.file = staged;
	return agent_load(jvm, opts, &load, err);
}
