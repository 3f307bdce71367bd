/* Reads a histogram from the agent's HISTO_* frames (wire/frames.def), and validates them. */
#ifndef JTOOL_MODEL_HISTO_HISTO_WIRE_H
#define JTOOL_MODEL_HISTO_HISTO_WIRE_H

#include "model/histo/histo.h"
#include "model/class/class_origins.h"
#include "wire/frame.h"

struct histo_wire {
	struct histo *histo; /* receives the classes; borrowed */
	struct class_origins origins;

	/* From HISTO_END: */
	uint64_t walk_ns;
	uint32_t method; /* WIRE_WALK_* */
	uint64_t resolved;   /* objects resolved one by one */
	uint64_t agent_peak; /* bytes allocated by the agent */
	bool is_late;        /* the walk reached the maximum pause: there are no classes */
};

/* Reads one frame.  Returns 0 if more follow, 1 after the last one, -EBADMSG if inconsistent. */
int histo_wire_take(struct histo_wire *w, uint16_t type, struct wire_reader *payload)
	_must_check_;
void histo_wire_release(struct histo_wire *w); /* does not release histo */

#endif
