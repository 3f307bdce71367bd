/*
 * A walked heap from the agent's frames (GRAPH in wire/types.def), but for TAPE, which goes to a
 * graph_builder as it is.  Pure: what the agent sends is hostile until it went through here.
 */
#ifndef JTOOL_MODEL_HEAP_WIRE_H
#define JTOOL_MODEL_HEAP_WIRE_H

#include "model/classes.h"
#include "model/classtold.h"
#include "model/heap.h"
#include "model/heap_fields.h"

struct heap_wire {
	/* The caller's, both. */
	struct classes *classes; /* the roster that GRAPH is about; what turns up is added */
	struct heap *heap;       /* threads and methods go there */

	/* from GRAPH_END */
	uint32_t outcome; /* enum wire_graphed */
	uint64_t pause_ns, waited_ns;
	uint64_t own_thread; /* 0: the tape is void */
	uint64_t agent_peak;
};

/* Take one frame: 0 when more come, 1 when it was the last one, -EBADMSG when it makes no sense. */
int heap_wire_take(struct heap_wire *w, uint16_t type, struct wire_reader *payload)
	_must_check_;

/*
 * When all was taken: name the heap's classes, which go by the roster's numbers, and tell the
 * graph what is not on the tape, but for facts->lasting (heap_class.lasting).
 */
void heap_wire_finish(struct heap_wire *w, struct graph_facts *facts);

/*
 * What CLASS told of one class, for the names of its fields: the classes that it names become
 * numbers.  classes: sorted.
 */
void heap_wire_shape(const struct classes *classes, const struct class_told *told,
		     struct shape *shape);

#endif
