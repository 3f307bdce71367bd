/*
 * Requests a dump or a histogram from a snapshot of the JVM's heap (the frame DUMP).  Meanwhile a
 * guard watches the JVM's memory.
 */
#ifndef JTOOL_CMD_HEAP_SNAPSHOT_REQUEST_H
#define JTOOL_CMD_HEAP_SNAPSHOT_REQUEST_H

#include "cli/command.h"
#include "session/session.h"

struct snapshot_request {
	const struct ctx *ctx;
	unsigned max_pause_ms;
	uint32_t flags; /* WIRE_DUMP_* */
	/*
	 * Receives each frame before DUMP_END.  Returns 0, or a negative errno, with which the
	 * session ends.
	 */
	int (*take)(void *arg, uint16_t type, struct wire_reader *payload);
	void *arg;

	/* Set by snapshot_request_run(): */
	bool no_agent;       /* the agent cannot be loaded */
	bool no_memory;      /* the JVM's memory ran short, so that the child was ended */
	uint32_t why;        /* enum wire_snapshot_why: why there is no snapshot */
	int32_t code;        /* an errno, a signal or an exit code, as `why` says */
	uint64_t pause_ns, child_ns, agent_peak;
};

/*
 * Sends the request and receives the answer.  Returns 0 when the answer is complete: r->why then
 * says whether there was a snapshot.  Returns -1 with err set after an error.
 */
int snapshot_request_run(struct snapshot_request *r, struct err *err) _must_check_;

#endif
