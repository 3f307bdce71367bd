/*
 * ACTIVITIES: lists the requests that other sessions are serving, and the allocation recording that
 * has been running since JVM startup.  If the client wants it, also asks all of these to end.
 */
#include "cmd/command.h"
#include "jvm/activity.h"
#include "jvm/alloc/recording.h"

static int send_row(struct ag_chan *chan, uint32_t request, bool recording, uint64_t ns)
{
	struct wire_writer *w = ag_chan_begin(chan);

	wire_put_u32(w, request);
	wire_put_u32(w, recording);
	wire_put_u64(w, ns);
	return ag_chan_end(chan, WIRE_ACTIVITY);
}

static int send_sessions(struct ag_chan *chan, bool end, uint32_t *n)
{
	struct ag_activity_row row;
	uint32_t next = 0;

	while (ag_activity_next(&next, &row)) {
		if (end)
			ag_activity_ask(row.id);
		if (send_row(chan, row.request, false, row.ns) != 0)
			return -1;
		++*n;
	}
	return 0;
}

static int send_recording(struct ag_chan *chan, bool end, uint32_t *n)
{
	uint64_t ns;

	if (!ag_recording_is_on(&ns))
		return 0;
	if (end)
		ag_recording_ask_end();
	++*n;
	return send_row(chan, WIRE_ALLOC, true, ns);
}

int ag_cmd_activities(struct ag_jvm *jvm, struct ag_chan *chan, struct wire_reader *request)
{
	uint32_t flags = wire_get_u32(request), n = 0;
	bool end = flags & WIRE_ACTIVITIES_FORCE;
	struct wire_writer *w;

	if (!wire_reader_ok(request) || (flags & ~WIRE_ACTIVITIES_FORCE))
		return ag_fail(jvm, "read the request", "it is malformed");
	if (send_sessions(chan, end, &n) != 0 || send_recording(chan, end, &n) != 0)
		return -1;
	w = ag_chan_begin(chan);
	wire_put_u32(w, n);
	return ag_chan_end(chan, WIRE_ACTIVITIES_END);
}
