/* The output of `jtool memory`: a table of parts and the verdicts, or a JSON document. */
#ifndef JTOOL_RENDER_VM_MEMORY_VIEW_H
#define JTOOL_RENDER_VM_MEMORY_VIEW_H

#include <stdio.h>

#include "model/memory/heap_limit.h"
#include "render/json.h"

struct memory_view {
	int pid;
	struct memory_parts parts;
	struct heap_limit limit;
	/* maximum heap size, and the cgroup's memory limit, in bytes; -1: unknown, or no limit */
	int64_t heap_max, group_limit;
	int64_t heap_after; /* bytes of heap in use after the last collection; -1: unknown */
	int64_t metaspace_max; /* -XX:MaxMetaspaceSize in bytes; -1: unknown, or no limit */
	unsigned threads;
	/* the JVM has answered diagnostic commands; false: only /proc and counters were read */
	bool asked;
	bool has_malloc_report;
	const struct json *base; /* the earlier document that --diff names; NULL: none */
};

/* Returns the view as a JSON document, which the caller frees. */
struct json *memory_view_json(const struct memory_view *v);
void memory_view_print(const struct memory_view *v, FILE *out);

/*
 * Fills in *v from a document that memory_view_json() has returned.  Returns false if `doc` is not
 * such a document.
 */
bool memory_view_load(struct memory_view *v, const struct json *doc);

/* Returns true if `doc` is a document that memory_view_json() has returned. */
bool memory_view_is_saved(const struct json *doc);

#endif
