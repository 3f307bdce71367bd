#include "cmd/other_sessions.h"

#include <poll.h>

#include "base/deadline.h"
#include "cmd/mapped_agents.h"
#include "session/session.h"

/* limit in ms for the end of other sessions, which restore classes and may write a recording */
#define END_MS 60000
/* interval in ms at which jtool asks the agent whether the other sessions have ended */
#define POLL_MS 50

static int take_frame(void *activities, uint16_t type, struct wire_reader *payload)
{
	return activities_take(activities, type, payload);
}

static int ask(struct session *s, uint32_t flags, struct activities *found, struct err *err)
{
	uint8_t payload[4];
	struct wire_writer w = wire_writer_init(payload, sizeof(payload));

	wire_put_u32(&w, flags);
	activities_begin(found);
	if (session_send(s, WIRE_ACTIVITIES, &w, err) < 0)
		return -1;
	return session_answer(s, take_frame, found, err);
}

static int wait_for_end(const struct ctx *ctx, struct session *s, struct err *err)
{
	struct deadline end = deadline_in_ms(END_MS);

	for (;;) {
		struct activities left = { 0 };
		int rc = ask(s, WIRE_ACTIVITIES_FORCE, &left, err);
		bool ended = left.n == 0;
		const char *command = ended ? "" : activity_command(&left.list[0]);

		activities_release(&left);
		if (rc < 0 || ended)
			return rc;
		if (deadline_passed(end))
			return err_set(err, EXIT_PARTIAL,
				       "another 'jtool %s' in JVM %d did not end within %d s; the "
				       "JVM may be stopped or in a long pause: try again when the "
				       "JVM runs", command, (int)ctx->jvm->pid, END_MS / 1000);
		(void)poll(NULL, 0, POLL_MS);
	}
}

/*
 * Asks the agent in the library `path`, which the JVM has mapped, for the requests of other
 * clients, and adds them to *found.  If the JVM refuses to start this agent again, or the agent
 * fails to start, prints a notice and returns 0.  Returns -1 with err set after any other error.
 */
static int ask_library(const struct ctx *ctx, const char *path, bool force,
		       struct activities *found, struct err *err)
{
	const struct attach_opts attach = { .timeout_ms = ctx->timeout_ms, .steps = ctx->steps };
	struct err cannot = { .code = EXIT_DONE };
	struct session *s = session_open_image(ctx->jvm, &attach, path, &cannot);
	int rc;

	if (!s && cannot.code != EXIT_AGENT && cannot.code != EXIT_ANSWER)
		return err_set(err, cannot.code, "%s", cannot.text);
	if (!s) {
		cmd_print_notice(ctx->cmd, "cannot ask a jtool agent in JVM %d what it does: %s",
				 (int)ctx->jvm->pid, cannot.text);
		return 0;
	}
	rc = ask(s, force ? WIRE_ACTIVITIES_FORCE : 0, found, err);
	if (rc == 0 && force && found->n > found->n_before)
		rc = wait_for_end(ctx, s, err);
	if (session_close(s, err) < 0)
		rc = -1;
	return rc;
}

int other_sessions_find(const struct ctx *ctx, bool force, struct activities *found,
			struct err *err)
{
	struct agents agents = AGENTS_INIT;
	int rc = mapped_agents_find(ctx, &agents, err);

	for (size_t i = 0; i < agents.n && rc == 0; i++) {
		if (agents.list[i].maker == MADE_BY_JTOOL)
			rc = ask_library(ctx, agents.list[i].name, force, found, err);
	}
	agents_release(&agents);
	return rc;
}
