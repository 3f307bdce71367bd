/*
 * A histogram from the agent's frames (HISTO_* in wire/types.def).  Pure: what the agent sends
 * is hostile until it went through here.
 */
#ifndef JTOOL_MODEL_HISTO_WIRE_H
#define JTOOL_MODEL_HISTO_WIRE_H

#include "model/histo.h"
#include "model/places.h"
#include "wire/frame.h"

struct histo_wire {
	struct histo *histo; /* where the classes go; the caller's */
	struct places places;

	/* from HISTO_END */
	uint64_t walk_ns;
	uint32_t method; /* WIRE_WALK_* */
	uint64_t resolved;
	uint64_t agent_peak;
};

/*
 * Take one frame: 0 when more come, 1 when it was the last one, -EBADMSG when it is none of
 * a histogram, ends too early, or refers to what was never told.
 */
int histo_wire_take(struct histo_wire *w, uint16_t type, struct wire_reader *payload)
	_must_check_;
void histo_wire_release(struct histo_wire *w); /* leaves the histogram alone */

#endif
