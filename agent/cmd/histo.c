/* HISTO: sends a class histogram, of all classes or of one. */
#include "cmd/census_send.h"
#include "cmd/command.h"
#include "jvm/jni_refs.h"

static int send_end(struct ag_jvm *jvm, struct ag_chan *chan, const struct ag_census *census)
{
	struct wire_writer *w = ag_chan_begin(chan);

	wire_put_u64(w, census->walk_ns);
	wire_put_u32(w, census->method);
	wire_put_u64(w, census->resolved);
	wire_put_u64(w, jvm->mem->peak);
	wire_put_u32(w, census->limit.over);
	return ag_chan_end(chan, WIRE_HISTO_END);
}

int ag_cmd_histo(struct ag_jvm *jvm, struct ag_chan *chan, struct wire_reader *request)
{
	const jvmtiCapabilities tagging = { .can_tag_objects = 1 };
	uint32_t flags = wire_get_u32(request);
	struct wire_text only = wire_get_text(request);
	struct ag_histo_opts opts = {
		.live = flags & WIRE_HISTO_LIVE,
		.strict = flags & WIRE_HISTO_STRICT,
		.signature = only.len > 0 ? only.data : NULL,
		.signature_len = only.len,
		.chan = chan,
		.pause_ms = wire_get_u32(request),
	};
	struct ag_census census;
	int rc = -1;

	if (!wire_reader_ok(request))
		return ag_fail(jvm, "read the request", "it is incomplete");
	if (ag_ref_push(jvm) != 0)
		return -1;
	if (AG_JVMTI(jvm, AddCapabilities, &tagging) != 0)
		goto out;
	if (ag_histo_count(jvm, &opts, &census) == 0) {
		rc = ag_census_send(jvm, chan, &census, flags & WIRE_HISTO_MODULES);
		if (rc == 0)
			rc = send_end(jvm, chan, &census);
		ag_census_release(jvm, &census);
	}
	(void)AG_JVMTI(jvm, RelinquishCapabilities, &tagging); /* AG_JVMTI records an error */
out:
	ag_ref_pop(jvm);
	return rc;
}
