#include "cmd/trace_send.h"

#include <string.h>

#include "wire/log_histogram.h"

/*
 * make_room() with this number of bytes always ends the current batch of rows, because no batch has
 * room for so many.  A FRAMES frame can then be sent.
 */
#define END_BATCH (48u * 1024)
#define USUAL_CALL 2048        /* bytes that must fit into the batch before a call is taken */
#define LONGEST_SUM (48 + 12 * HISTOGRAM_BUCKETS) /* bytes that put_sum() writes at most */
#define NAME_MAX 1024          /* maximum bytes of a thread name; a longer name is cut */

/* Functions in this file return FULL if the channel has no room, and -1 if it is broken. */
#define FULL AG_ROW_BATCH_FULL

uint32_t ag_trace_sender_hooked(const struct ag_trace_sender *t)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < t->n; i++)
		n += !t->methods[i].refused && !t->methods[i].code && !t->methods[i].why;
	return n;
}

bool ag_trace_sender_is_done(const struct ag_trace_sender *t)
{
	return t->max_calls > 0 && t->sent >= t->max_calls;
}

static int make_room(struct ag_trace_sender *t, size_t n)
{
	t->batch.chan = t->chan;
	return ag_row_batch_room(&t->batch, n, t->may_wait);
}

/*
 * Ends the batch, and sends as many buffered frames as it can without waiting.  Every function that
 * sends frames calls finish() last.  Returns 0, even if frames remain in the buffer, because they
 * are sent later.  Returns -1 if `rc` is negative or the channel is broken.
 */
static int finish(struct ag_trace_sender *t, int rc)
{
	if (rc < 0 || ag_row_batch_end(&t->batch) != 0)
		return -1;
	return ag_chan_try_flush(t->chan);
}

static int send_refusal(struct ag_trace_sender *t, uint32_t i)
{
	const struct ag_install_method *m = &t->methods[i];
	const char *why = m->why ? m->why : "";
	struct wire_writer *w;
	int rc;

	if (!m->refused && !m->code && !m->why)
		return 0;
	rc = make_room(t, 16 + strlen(why));
	if (rc != 0)
		return rc;
	w = ag_chan_begin(t->chan);
	wire_put_u32(w, i);
	wire_put_u32(w, m->refused);
	wire_put_i32(w, (int32_t)m->code);
	wire_put_text(w, why, strlen(why));
	return ag_chan_end(t->chan, WIRE_TRACE_REFUSED);
}

static int send_begun(struct ag_trace_sender *t)
{
	struct wire_writer *w;
	int rc = make_room(t, 12);

	if (rc != 0)
		return rc;
	w = ag_chan_begin(t->chan);
	wire_put_u32(w, ag_trace_sender_hooked(t));
	wire_put_u64(w, t->install_ns);
	return ag_chan_end(t->chan, WIRE_TRACE_BEGUN);
}

int ag_trace_send_begin(struct ag_trace_sender *t)
{
	int rc = 0;

	while (t->next_method <= t->n && rc == 0) {
		rc = t->next_method < t->n ? send_refusal(t, t->next_method) : send_begun(t);
		t->next_method += rc == 0;
	}
	return finish(t, rc);
}

/* Sends those stack frames of a call that were not sent yet; call it before sending the call. */
static int send_new_frames(struct ag_trace_sender *t, const struct ag_call *call)
{
	int rc;

	if (!ag_frames_are_new(&t->frames, call->frames, call->n_frames))
		return 0;
	rc = make_room(t, END_BATCH);
	if (rc != 0)
		return rc;
	return ag_frames_send(t->jvm, t->chan, &t->frames, call->frames, call->n_frames);
}

static void put_call(struct ag_trace_sender *t, const struct ag_call *call, size_t name_len,
		     struct wire_writer *w)
{
	wire_put_u32(w, call->method);
	wire_put_u64(w, call->when_ns);
	wire_put_u64(w, call->ns);
	wire_put_u64(w, call->thread_id);
	wire_put_text(w, name_len ? call->thread : "", name_len);
	wire_put_u32(w, call->threw ? 1 : 0);
	wire_put_text(w, (const char *)call->values, call->values_len);
	wire_put_text(w, (const char *)call->result, call->result_len);
	wire_put_u32(w, call->n_frames);
	for (uint32_t i = 0; i < call->n_frames; i++)
		wire_put_u32(w, ag_frames_number(&t->frames, &call->frames[i]));
}

static int send_call(struct ag_jvm *jvm, const struct ag_call *call, void *arg)
{
	struct ag_trace_sender *t = arg;
	size_t name_len = call->thread ? strnlen(call->thread, NAME_MAX) : 0, len;
	struct wire_writer *w;
	int rc;

	(void)jvm;
	len = 48 + name_len + call->values_len + call->result_len + 4 * (size_t)call->n_frames;
	rc = send_new_frames(t, call);
	if (rc == 0)
		rc = make_room(t, len);
	if (rc == FULL)
		t->dropped++; /* cannot be sent later: ag_trace_drain() frees the call's record */
	if (rc != 0)
		return rc;
	w = ag_row_batch_row(&t->batch, len);
	if (!w)
		return -1;
	put_call(t, call, name_len, w);
	t->sent++;
	return ag_trace_sender_is_done(t) ? FULL : make_room(t, USUAL_CALL);
}

int ag_trace_send_calls(struct ag_trace_sender *t)
{
	int rc = 0;

	t->batch = (struct ag_row_batch){ .chan = t->chan, .type = WIRE_TRACE_CALLS };
	if (!ag_trace_sender_is_done(t))
		rc = make_room(t, USUAL_CALL);
	if (rc == 0 && !ag_trace_sender_is_done(t))
		rc = ag_trace_drain(t->jvm, t->trace, send_call, t);
	return finish(t, rc);
}

static void put_sum(const struct ag_sum *sum, uint32_t method, struct wire_writer *w)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < HISTOGRAM_BUCKETS; i++)
		n += sum->buckets[i] > 0;
	wire_put_u32(w, method);
	wire_put_u64(w, sum->calls);
	wire_put_u64(w, sum->threw);
	wire_put_u64(w, sum->ns);
	wire_put_u64(w, sum->min_ns);
	wire_put_u64(w, sum->max_ns);
	wire_put_u32(w, n);
	for (uint32_t i = 0; i < HISTOGRAM_BUCKETS; i++) {
		if (sum->buckets[i] == 0)
			continue;
		wire_put_u32(w, i);
		wire_put_u64(w, sum->buckets[i]);
	}
}

int ag_trace_send_sums(struct ag_trace_sender *t)
{
	int rc = 0;

	t->batch = (struct ag_row_batch){ .chan = t->chan, .type = WIRE_TRACE_SUMS };
	for (; t->next_sum < t->n; t->next_sum++) {
		struct ag_sum sum;
		struct wire_writer *w;

		rc = make_room(t, LONGEST_SUM);
		if (rc != 0)
			break;
		if (!ag_trace_drain_sum(t->trace, t->next_sum, &sum))
			continue;
		w = ag_row_batch_row(&t->batch, LONGEST_SUM);
		if (!w)
			return -1;
		put_sum(&sum, t->next_sum, w);
	}
	return finish(t, rc);
}

static void put_state(const struct ag_trace_sender *t, struct wire_writer *w)
{
	struct ag_trace_state state = { 0 };

	ag_trace_state(t->trace, &state);
	wire_put_u64(w, state.calls);
	wire_put_u64(w, state.too_many);
	wire_put_u64(w, state.no_room + t->dropped);
	wire_put_u64(w, state.hooks_ns);
}

int ag_trace_send_state(struct ag_trace_sender *t)
{
	int rc = make_room(t, 32);

	if (rc != 0)
		return rc < 0 ? -1 : 0;
	put_state(t, ag_chan_begin(t->chan));
	return finish(t, ag_chan_end(t->chan, WIRE_TRACE_STATE));
}

int ag_trace_send_end(struct ag_trace_sender *t, uint32_t end, jvmtiError code)
{
	struct wire_writer *w = ag_chan_begin(t->chan);

	wire_put_u32(w, end);
	wire_put_i32(w, (int32_t)code);
	put_state(t, w);
	return ag_chan_end(t->chan, WIRE_TRACE_END);
}
