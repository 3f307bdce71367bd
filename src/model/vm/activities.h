/*
 * The requests that a JVM is working on for other clients of jtool, from the frame ACTIVITIES
 * (wire/frames.def).
 */
#ifndef JTOOL_MODEL_VM_ACTIVITIES_H
#define JTOOL_MODEL_VM_ACTIVITIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/util.h"
#include "wire/cursor.h"

struct activity {
	uint16_t request; /* kind of the request: WIRE_TRACE, WIRE_ALLOC, … */
	/*
	 * true: the activity is the allocation recording that began at the JVM's start, and not a
	 * client's request
	 */
	bool recording;
	uint64_t ns;      /* ns since the request or the recording began */
};

struct activities {
	struct activity *list;
	size_t n, cap;
	/* number of activities in `list` that come from earlier answers, of other agents */
	size_t n_before;
};

void activities_release(struct activities *a);

/*
 * Call this before each agent's answer is read.  The answer's activities are then added to those of
 * the previous agents.
 */
void activities_begin(struct activities *a);

/*
 * Reads one frame.  Returns 0 if more frames follow; or 1 if this was the last frame; or -EBADMSG
 * if the frame is inconsistent.
 */
int activities_take(struct activities *a, uint16_t type, struct wire_reader *payload) _must_check_;

/*
 * Returns the name of the jtool command that sends requests of the activity's kind, or "session" if
 * the kind is unknown.
 */
const char *activity_command(const struct activity *activity);

#endif
