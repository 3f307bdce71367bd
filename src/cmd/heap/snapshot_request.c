#include "cmd/heap/snapshot_request.h"

#include <errno.h>

#include "cmd/heap/heap_engine.h"
#include "session/memory_guard.h"

static int take_frame(void *arg, uint16_t type, struct wire_reader *payload)
{
	struct snapshot_request *r = arg;

	if (type != WIRE_DUMP_END)
		return r->take(r->arg, type, payload);
	r->why = wire_get_u32(payload);
	r->code = wire_get_i32(payload);
	r->pause_ns = wire_get_u64(payload);
	r->child_ns = wire_get_u64(payload);
	r->agent_peak = wire_get_u64(payload);
	return wire_reader_ok(payload) ? 1 : -EBADMSG;
}

static int ask(struct snapshot_request *r, struct session *session, struct err *err)
{
	uint8_t payload[12];
	struct wire_writer w = wire_writer_init(payload, sizeof(payload));
	int rc;

	wire_put_u32(&w, r->max_pause_ms);
	wire_put_u32(&w, snapshot_life_ms(r->ctx->jvm));
	wire_put_u32(&w, r->flags);
	rc = session_send(session, WIRE_DUMP, &w, err);
	return rc == 0 ? session_answer_long(session, take_frame, r, err) : rc;
}

int snapshot_request_run(struct snapshot_request *r, struct err *err)
{
	const struct attach_opts attach = {
		.timeout_ms = r->ctx->timeout_ms, .steps = r->ctx->steps,
	};
	struct session *session = session_open(r->ctx->jvm, &attach, err);
	struct err other = { .code = EXIT_DONE };
	struct memory_guard guard;
	int rc;

	if (!session) {
		r->no_agent = err->code == EXIT_AGENT;
		return -1;
	}
	rc = memory_guard_begin(&guard, session, r->ctx->jvm, MEMORY_COPY, err);
	if (rc == 0) {
		rc = ask(r, session, err);
		if (memory_guard_end(&guard, &other) < 0) {
			/* `other` has the cause; `err` only says that the session has ended. */
			*err = other;
			r->no_memory = true;
			rc = -1;
		}
	}
	/* After an error, `err` has the cause, so ignore an error of session_close(). */
	return session_close(session, rc < 0 ? &other : err) < 0 ? -1 : rc;
}
