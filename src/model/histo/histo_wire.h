/* Reads a histogram from the agent's HISTO_* frames (wire/frames.def), and checks them. */
#ifndef JTOOL_MODEL_HISTO_HISTO_WIRE_H
#define JTOOL_MODEL_HISTO_HISTO_WIRE_H

#include "model/histo/histo.h"
#include "model/class/class_origins.h"
#include "wire/frame.h"

struct histo_wire {
	struct histo *histo; /* histo_wire_take() adds the classes to it; not owned */
	struct class_origins origins;

	/* Values of the frame HISTO_END: */
	uint64_t walk_ns;
	uint32_t method; /* WIRE_WALK_* */
	uint64_t resolved;   /* number of objects whose class the agent looked up one by one */
	uint64_t agent_peak; /* maximum number of bytes that the agent had allocated at a time */
	bool is_late;        /* the walk exceeded the maximum pause, so no classes were sent */
};

/*
 * Reads one frame of the given type.  Returns 0 if more frames follow; 1 if it is the last frame;
 * or -EBADMSG if the frame is inconsistent.
 */
int histo_wire_take(struct histo_wire *w, uint16_t type, struct wire_reader *payload)
	_must_check_;
void histo_wire_release(struct histo_wire *w); /* does not release w->histo */

#endif
