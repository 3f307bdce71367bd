/*
 * Parses the frames of a heap walk (GRAPH in wire/frames.def), which are untrusted; the frame
 * HEAP_STREAM is for graph_builder_take().
 */
#ifndef JTOOL_MODEL_HEAP_HEAP_WIRE_H
#define JTOOL_MODEL_HEAP_HEAP_WIRE_H

#include "model/class/classes.h"
#include "model/class/class_info.h"
#include "model/heap/heap.h"
#include "model/heap/heap_fields.h"

struct heap_wire {
	/* Not owned.  The frames refer to classes by their number in `classes`. */
	struct classes *classes; /* heap_wire_take() adds the classes that are missing */
	struct heap *heap;       /* heap_wire_take() adds threads and methods */

	/* Values of the frame GRAPH_END: */
	uint32_t outcome; /* enum wire_graphed */
	uint64_t pause_ns, waited_ns;
	uint64_t own_thread; /* id of the agent's thread; 0: unknown, so the stream is invalid */
	uint64_t agent_peak; /* the greatest number of bytes that the agent had allocated */
	uint32_t why;        /* enum wire_snapshot_why: why there is no snapshot */
	int32_t code;        /* errno, signal or exit code that belongs to `why`; 0: none */
	uint64_t child_ns; /* duration of the walk in the child process of a snapshot, in ns */
};

/*
 * Parses one frame.  Returns 0 if more frames follow, 1 for the last frame, or -EBADMSG if the
 * frame is invalid.
 */
int heap_wire_take(struct heap_wire *w, uint16_t type, struct wire_reader *payload)
	_must_check_;

/*
 * Call this after the last frame.  Sets the classes of w->heap, and all members of *facts except
 * facts->permanent.
 */
void heap_wire_finish(struct heap_wire *w, struct graph_facts *facts);

/*
 * Converts `info`, the reply to the request CLASS, to a shape, in which supertypes are given as
 * class numbers.  `classes` must be sorted by classes_sort().
 */
void heap_wire_shape(const struct classes *classes, const struct class_info *info,
		     struct shape *shape);

#endif
