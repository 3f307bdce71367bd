/*
 * The two engines of heap_source.  Private to heap_source*.c.
 */
#ifndef JTOOL_CMD_HEAP_SOURCE_PARTS_H
#define JTOOL_CMD_HEAP_SOURCE_PARTS_H

#include "cmd/heap_source.h"
#include "cmd/roster.h"
#include "model/heap_fields.h"

struct heap_source {
	struct heap heap;
	/* With the agent, to ask for fields; else .session is NULL. */
	struct roster roster;
	struct shapes shapes;
};

struct heap_plan {
	const struct ctx *ctx;
	const struct heap_wanted *wanted;
	unsigned max_pause_ms;
	/*
	 * Of ours, altogether.  A half is for the graph; the other, which is then for looking for
	 * ways and dominators in it, is for what waits to be taken meanwhile.
	 */
	size_t max_bytes;
	bool *partial; /* may be NULL */
};

/* What became of an engine. */
enum heap_outcome {
	HEAP_DONE,
	HEAP_FAILED, /* err is set */
	HEAP_CANNOT, /* the same, but the other engine might */
};

enum heap_outcome heap_source_by_agent(struct heap_source *source, const struct heap_plan *plan,
				       struct err *err) _must_check_;
int heap_source_by_hprof(struct heap_source *source, const struct heap_plan *plan,
			 struct err *err) _must_check_;

/* Ask the agent what it is to tell of a class: for heap_source_fields(). */
int heap_source_ask_shape(struct heap_source *source, uint32_t class, struct err *err)
	_must_check_;

/* For both: the graph from what was built so far, with the lasting classes of the heap. */
int heap_source_build(struct heap_source *source, const struct heap_plan *plan,
		      struct graph_builder *builder, struct graph_facts *facts, struct err *err)
	_must_check_;

#endif
