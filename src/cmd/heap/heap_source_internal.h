/* The engines of heap_source.  Private to heap_source*.c. */
#ifndef JTOOL_CMD_HEAP_HEAP_SOURCE_INTERNAL_H
#define JTOOL_CMD_HEAP_HEAP_SOURCE_INTERNAL_H

#include "cmd/heap/heap_source.h"
#include "cmd/class/class_index.h"
#include "model/heap/heap_fields.h"

struct heap_source {
	struct heap heap;
	/* The index through which the agent is asked for fields; its session is NULL for a dump. */
	struct class_index index;
	struct shapes shapes;
	enum heap_engine engine; /* that read the heap */
	int64_t pause_ns;        /* of the JVM; -1: unknown */
};

struct heap_plan {
	const struct ctx *ctx;
	const struct heap_wanted *wanted;
	unsigned max_pause_ms;
	/* Half of this limit is for the graph, half for unread data and later for the analysis. */
	size_t max_bytes;
	bool is_capped; /* max_memory is all that is free */
	bool *partial; /* may be NULL */
	bool all_names; /* fail if a snapshot lacks names of methods */
};

/* The result of an engine. */
enum heap_outcome {
	HEAP_DONE,
	HEAP_FAILED, /* err is set */
	HEAP_CANNOT, /* err is set; the other engine may work */
	HEAP_AGAIN,  /* err is set; a later attempt may succeed */
};

enum heap_outcome heap_source_by_agent(struct heap_source *source, const struct heap_plan *plan,
				       struct err *err) _must_check_;
/* First checks the JVM's memory.  On HEAP_CANNOT, err has the reason why there is no snapshot. */
enum heap_outcome heap_source_by_snapshot(struct heap_source *source,
					  const struct heap_plan *plan, struct err *err)
	_must_check_;
int heap_source_by_hprof(struct heap_source *source, const struct heap_plan *plan,
			 struct err *err) _must_check_;

/* Asks the agent for the members and supertypes of a class, for heap_source_fields(). */
int heap_source_ask_shape(struct heap_source *source, uint32_t class, struct err *err)
	_must_check_;

/* Builds the graph from the builder.  Both engines call it. */
int heap_source_build(struct heap_source *source, const struct heap_plan *plan,
		      struct graph_builder *builder, struct graph_facts *facts, struct err *err)
	_must_check_;

#endif
