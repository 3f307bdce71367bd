/* DUMP: sends a heap dump or a histogram of the live objects, from a snapshot. */
#include "cmd/census_send.h"
#include "cmd/command.h"
#include "jvm/dump/dump.h"
#include "jvm/jni_refs.h"
#include "wire/frame.h"

static int send_end(struct ag_jvm *jvm, struct ag_chan *chan, const struct ag_dump_result *result)
{
	struct wire_writer *w = ag_chan_begin(chan);

	wire_put_u32(w, result->why);
	wire_put_i32(w, result->code);
	wire_put_u64(w, result->paused_ns);
	wire_put_u64(w, result->child_ns);
	wire_put_u64(w, jvm->mem->peak);
	return ag_chan_end(chan, WIRE_DUMP_END);
}

static int count(struct ag_jvm *jvm, struct ag_chan *chan, const struct ag_dump_opts *opts,
		 uint32_t flags, struct ag_dump_result *result)
{
	struct ag_census census;
	int rc = ag_heap_count(jvm, chan, opts, result, &census);

	if (rc == 0 && result->why == WIRE_SNAPSHOT_DONE)
		rc = ag_census_send(jvm, chan, &census, flags & WIRE_DUMP_MODULES);
	ag_census_release(jvm, &census);
	return rc;
}

int ag_cmd_dump(struct ag_jvm *jvm, struct ag_chan *chan, struct wire_reader *request)
{
	const struct ag_dump_opts opts = {
		.pause_ms = wire_get_u32(request),
		.life_ms = wire_get_u32(request),
	};
	uint32_t flags = wire_get_u32(request);
	bool counts = flags & WIRE_DUMP_COUNTS;
	const jvmtiCapabilities needed = {
		.can_tag_objects = 1,
		.can_get_line_numbers = !counts,
		.can_get_source_file_name = !counts,
	};
	struct ag_dump_result result;
	int rc;

	if (!wire_reader_ok(request))
		return ag_fail(jvm, "read the request", "it is incomplete");
	if (AG_JVMTI(jvm, AddCapabilities, &needed) != 0)
		return -1;
	rc = ag_ref_push(jvm);
	if (rc == 0) {
		rc = counts ? count(jvm, chan, &opts, flags, &result)
			    : ag_heap_dump(jvm, chan, &opts, &result);
		ag_ref_pop(jvm);
	}
	(void)AG_JVMTI(jvm, RelinquishCapabilities, &needed); /* AG_JVMTI records an error */
	return rc == 0 ? send_end(jvm, chan, &result) : -1;
}
