/* Declarations shared by the engines of heap_source.  Private to heap_source*.c. */
#ifndef JTOOL_CMD_HEAP_HEAP_SOURCE_INTERNAL_H
#define JTOOL_CMD_HEAP_HEAP_SOURCE_INTERNAL_H

#include "cmd/heap/heap_source.h"
#include "cmd/class/class_index.h"
#include "model/heap/heap_fields.h"

struct heap_source {
	struct heap heap;
	/*
	 * The class index.  Its session is used to ask the agent for the fields of classes.  If the
	 * heap is read from a dump, the index has no session.
	 */
	struct class_index index;
	struct shapes shapes;
	enum heap_engine engine; /* the engine that has read the heap */
	int64_t pause_ns;        /* for how long the JVM was paused; -1: unknown */
};

struct heap_plan {
	const struct ctx *ctx;
	const struct heap_wanted *wanted;
	unsigned max_pause_ms;
	/*
	 * Limit for jtool's memory in bytes.  Half of the limit is for the graph; the other half is
	 * for data that was received but not read yet, and later for the analysis.
	 */
	size_t max_bytes;
	bool is_capped; /* max_bytes is less than --max-memory, because less memory is free */
	bool *partial; /* output: set to true if the heap is incomplete; may be NULL */
	bool all_names; /* fail if a snapshot does not have the names of all methods */
};

/* The result of an engine. */
enum heap_outcome {
	HEAP_DONE,
	HEAP_FAILED, /* err is set */
	HEAP_CANNOT, /* err is set; another engine may work */
	HEAP_AGAIN,  /* err is set; the same engine may succeed later */
};

enum heap_outcome heap_source_by_agent(struct heap_source *source, const struct heap_plan *plan,
				       struct err *err) _must_check_;
/*
 * Reads the heap from a snapshot, if the JVM has enough memory for one and the expected pause is
 * short enough (snapshot_check()).  Never returns HEAP_AGAIN.  If it returns HEAP_CANNOT, `err` has
 * the reason why there is no snapshot.
 */
enum heap_outcome heap_source_by_snapshot(struct heap_source *source,
					  const struct heap_plan *plan, struct err *err)
	_must_check_;
int heap_source_by_hprof(struct heap_source *source, const struct heap_plan *plan,
			 struct err *err) _must_check_;

/*
 * Asks the agent for the members and supertypes of a class, and stores them in source->shapes.
 * Called by heap_source_fields().  Returns 0, or -1 with err set.
 */
int heap_source_ask_shape(struct heap_source *source, uint32_t class, struct err *err)
	_must_check_;

/*
 * Builds source->heap.graph from `builder` and `facts`.  Every engine calls this function when it
 * has read all objects.  Returns 0, or -1 with err set.
 */
int heap_source_build(struct heap_source *source, const struct heap_plan *plan,
		      struct graph_builder *builder, struct graph_facts *facts, struct err *err)
	_must_check_;

#endif
