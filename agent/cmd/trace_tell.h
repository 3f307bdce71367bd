/*
 * What a trace tells its client.
 *
 * While classes have hooks the client is not waited for: what it does not take is left where it
 * is, and in the end passed over.
 */
#ifndef JTOOL_AGENT_CMD_TRACE_TELL_H
#define JTOOL_AGENT_CMD_TRACE_TELL_H

#include "cmd/batch.h"
#include "cmd/frames_tell.h"
#include "jvm/trace.h"
#include "jvm/trace_install.h"

struct ag_telling {
	struct ag_jvm *jvm;
	struct ag_chan *chan;
	struct ag_trace *trace;
	const struct ag_install_method *methods;
	uint32_t n;
	uint32_t flags;      /* WIRE_TRACE_* */
	uint64_t max_calls;  /* 0: as many as there are */
	uint64_t install_ns;
	bool patient;        /* classes were put back: from now on the client may be waited for */

	uint32_t next_method; /* whose refusal is to be told; n: and how many are hooked; n + 1 */
	uint32_t next_sum;    /* n: all were told, this time */
	uint64_t told, dropped; /* calls */
	struct ag_batch batch;
	struct ag_frames frames;
};

/* How many methods are hooked. */
uint32_t ag_telling_hooked(const struct ag_telling *t);
/* Have as many calls been told as were asked for? */
bool ag_telling_is_done(const struct ag_telling *t);

/* Each tells what there is room for, or all of it when patient; -1: the channel is broken. */
int ag_tell_begin(struct ag_telling *t); /* what was refused, and how many are hooked */
int ag_tell_calls(struct ag_telling *t); /* those that ended since */
int ag_tell_sums(struct ag_telling *t);  /* from next_sum on */
int ag_tell_state(struct ag_telling *t);
int ag_tell_end(struct ag_telling *t, uint32_t end, jvmtiError code);

#endif
