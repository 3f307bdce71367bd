/*
 * Sends a trace to the client.
 *
 * While classes have hooks, the agent does not wait for the client.  Calls for which the channel
 * has no room stay in the records of the hooks; when no record is free, the hooks drop further
 * calls.
 */
#ifndef JTOOL_AGENT_CMD_TRACE_SEND_H
#define JTOOL_AGENT_CMD_TRACE_SEND_H

#include "cmd/row_batch.h"
#include "cmd/frames_send.h"
#include "jvm/trace/trace.h"
#include "jvm/trace/trace_install.h"

struct ag_trace_sender {
	struct ag_jvm *jvm;
	struct ag_chan *chan;
	struct ag_trace *trace;
	const struct ag_install_method *methods;
	uint32_t n;          /* number of methods */
	uint32_t flags;      /* WIRE_TRACE_* */
	uint64_t max_calls;  /* 0: no limit */
	uint64_t install_ns;
	/* set after the hooks are removed from all classes: sending may wait for the client */
	bool may_wait;

	/*
	 * Progress of ag_trace_send_begin().  Below n: index of the next method; a refusal is sent
	 * if the method was refused.  n: TRACE_BEGUN is next.  n + 1: TRACE_BEGUN was sent.
	 */
	uint32_t next_method;
	uint32_t next_sum;      /* index of the method whose sum is sent next; n: all were sent */
	uint64_t sent, dropped; /* numbers of calls */
	struct ag_row_batch batch;
	struct ag_frames frames;
};

/* Returns the number of methods that have hooks. */
uint32_t ag_trace_sender_hooked(const struct ag_trace_sender *t);
/* Returns true if max_calls calls were sent. */
bool ag_trace_sender_is_done(const struct ag_trace_sender *t);

/*
 * These functions send as much as the channel has room for; if may_wait is set, they wait and send
 * everything.  They return 0, or -1 if the channel is broken.
 */
int ag_trace_send_begin(struct ag_trace_sender *t); /* refusals, then TRACE_BEGUN */
int ag_trace_send_calls(struct ag_trace_sender *t); /* calls that ended since the last drain */
int ag_trace_send_sums(struct ag_trace_sender *t);  /* sums of the methods from next_sum on */
int ag_trace_send_state(struct ag_trace_sender *t);
int ag_trace_send_end(struct ag_trace_sender *t, uint32_t end, jvmtiError code);

#endif
