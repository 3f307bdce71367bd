/*
 * The requests that other clients of jtool are running in a JVM: the frame ACTIVITIES, see
 * wire/frames.def.
 */
#ifndef JTOOL_MODEL_VM_ACTIVITIES_H
#define JTOOL_MODEL_VM_ACTIVITIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/util.h"
#include "wire/cursor.h"

struct activity {
	uint16_t request; /* WIRE_… */
	bool recording;   /* the allocation recording since the JVM's start */
	uint64_t ns;      /* since it began */
};

struct activities {
	struct activity *list;
	size_t n, cap;
	size_t n_before; /* how many other agents have reported */
};

void activities_release(struct activities *a);

/* Call it before the answer of each agent: the list then has the activities of all of them. */
void activities_begin(struct activities *a);

/* Reads one frame.  Returns 0 if more follow, 1 after the last one, -EBADMSG if inconsistent. */
int activities_take(struct activities *a, uint16_t type, struct wire_reader *payload) _must_check_;

/* Returns the name of the command whose request it is, or "session" if it is not known. */
const char *activity_command(const struct activity *activity);

#endif
