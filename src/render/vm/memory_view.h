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
	int64_t heap_max, group_limit; /* in bytes; -1: unknown, or no limit */
	int64_t heap_after; /* bytes of heap in use after the last collection; -1: unknown */
	unsigned threads;
	/* the JVM has answered diagnostic commands; else only /proc and counters were read */
	bool asked;
	bool has_malloc_report;
	const struct json *base; /* the earlier document of --diff; NULL: none */
};

/* Returns the JSON document, which the caller frees. */
struct json *memory_view_json(const struct memory_view *v);
void memory_view_print(const struct memory_view *v, FILE *out);

/*
 * Fills in a view from a document that memory_view_json() made.  Returns false if `doc` is another
 * document.
 */
bool memory_view_load(struct memory_view *v, const struct json *doc);

/* Returns whether memory_view_json() made the document. */
bool memory_view_is_saved(const struct json *doc);

#endif
