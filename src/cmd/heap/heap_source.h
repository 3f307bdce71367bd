/* A heap to analyse: from a snapshot, a walk by the agent, the JVM's own dump, or a dump file. */
#ifndef JTOOL_CMD_HEAP_HEAP_SOURCE_H
#define JTOOL_CMD_HEAP_HEAP_SOURCE_H

#include "cmd/heap/heap_engine.h"
#include "discover/memory_room.h"
#include "model/heap/heap.h"
#include "render/json.h"

/*
 * The options of all commands that analyse a heap.  The option struct of such a command has a
 * struct heap_opts as a member, and its option rows include HEAP_ROWS.
 */
struct heap_opts {
	int engine; /* enum heap_engine */
	unsigned max_pause_ms;
	uint64_t max_memory; /* limit for jtool's memory in bytes; 0: half of the free memory */
};
#define HEAP_MAX_PAUSE_MS 5000

#define HEAP_MAX_PAUSE_ROW(at)                                                                 \
	{ 0, "max-pause", OPT_SECONDS, (at), "TIME",                                        \
	  "stop when the JVM is paused for longer (default 5s)", NULL }

/* The option rows.  `at` is the offset of the struct heap_opts in the command's option struct. */
#define HEAP_ROWS(at)                                                                          \
	HEAP_ENGINE_ROW((at) + offsetof(struct heap_opts, engine),                             \
			"auto (default), snapshot, agent or hprof"),                           \
	HEAP_MAX_PAUSE_ROW((at) + offsetof(struct heap_opts, max_pause_ms)),                   \
	{ 0, "max-memory", OPT_MB, (at) + offsetof(struct heap_opts, max_memory), "SIZE",      \
	  "limit jtool's memory (default: half of the free memory)", NULL }

/* Contents of the heap that a command may want; each prolongs the JVM's pause. */
struct heap_wanted {
	/*
	 * read the start of Strings that have at least this number of characters; 0: read no texts
	 */
	unsigned texts_from;
};

/*
 * Sets *granted to the number of bytes that jtool may use for data from ctx->jvm or ctx->file:
 * `wanted`, or less if too little memory is free in jtool's control group.  Returns 0; or -1 with
 * err set if jtool or the JVM has too little memory (see memory_check()).
 */
int heap_memory(const struct ctx *ctx, enum memory_use use, uint64_t wanted, size_t *granted,
		struct err *err) _must_check_;

/*
 * Checks the options.  Called before jtool searches for the JVM.  Returns 0; or -1 with err set
 * (EXIT_USAGE) if options cannot be combined.
 */
int heap_opts_check(const struct heap_opts *opts, const char *file, struct err *err) _must_check_;

struct heap_source;

/*
 * Reads the heap of ctx->file, or of ctx->jvm if ctx->file is NULL.  Builds the graph, and names
 * the classes.  Returns NULL with err set on failure.  If the walk stops early, returns the
 * incomplete heap and sets *partial; or if `partial` is NULL, fails with EXIT_PARTIAL.
 */
struct heap_source *heap_source_open(const struct ctx *ctx, const struct heap_opts *opts,
				     const struct heap_wanted *wanted, bool *partial,
				     struct err *err) _must_check_;
struct heap *heap_source_heap(struct heap_source *source);
/* Returns whether the heap is from a dump, which may contain unreachable objects. */
bool heap_source_is_dump(const struct heap_source *source);
/* Returns how long the JVM was paused, in ns; -1: unknown. */
int64_t heap_source_pause_ns(const struct heap_source *source);
/*
 * Fetches the names of the fields of each class whose wanted[class] is true.  heap_via()
 * (model/heap/heap.h) needs these names.  Returns 0, or -1 with err set.
 */
int heap_source_fields(struct heap_source *source, const bool *wanted, struct err *err)
	_must_check_;
/* Adds "pid", "file", "engine" and "pause" to a JSON document.  Either "pid" or "file" is null. */
void heap_source_put(const struct heap_source *source, const struct ctx *ctx, struct json *doc);
/*
 * Frees the source.  Returns -1 with err set if the agent could not restore everything that it has
 * changed in the JVM.
 */
int heap_source_close(struct heap_source *source, struct err *err);

#endif
