/*
 * Where a heap comes from: a walk by the agent in a JVM, the JVM's own dump of it, or a dump in
 * a file.  The commands about heaps begin with it and do not ask which it was.
 */
#ifndef JTOOL_CMD_HEAP_SOURCE_H
#define JTOOL_CMD_HEAP_SOURCE_H

#include "cmd.h"
#include "model/heap.h"
#include "render/json.h"

/* The options that these commands share: a part of their own struct, with HEAP_ROWS. */
struct heap_opts {
	int engine; /* enum heap_engine */
	unsigned max_pause_ms;
	unsigned max_memory_mb; /* of ours; 0: half of what is free here */
};
enum heap_engine { HEAP_BY_ANY, HEAP_BY_AGENT, HEAP_BY_HPROF };
extern const char *const heap_engines[];
#define HEAP_MAX_PAUSE_MS 5000

/* at: the offset of the struct heap_opts in the values' struct. */
#define HEAP_ROWS(at)                                                                          \
	{ 0, "engine", OPT_CHOICE, (at) + offsetof(struct heap_opts, engine), "ENGINE",        \
	  "agent, or hprof: the JVM's own dump (default: what works)", heap_engines },         \
	{ 0, "max-pause", OPT_SECONDS, (at) + offsetof(struct heap_opts, max_pause_ms),        \
	  "SECONDS", "let the JVM stand still no longer (default 5)", NULL },                  \
	{ 0, "max-memory", OPT_NUMBER, (at) + offsetof(struct heap_opts, max_memory_mb), "MB", \
	  "take no more memory here (default: half of what is free)", NULL }

/* 0: told by default; what is not told is not asked of the JVM, which stands still meanwhile. */
struct heap_wanted {
	unsigned texts_from; /* tell the first characters of Strings as long as this; 0: of none */
};

struct heap_source;

/*
 * Walk, build, and name the classes.  ctx->jvm, or ctx->file when that is not NULL.  NULL with
 * err set.  A walk that was stopped is EXIT_PARTIAL: *partial says so where the caller can do
 * with a part of the heap (it may be NULL: then it is an error).
 */
struct heap_source *heap_source_open(const struct ctx *ctx, const struct heap_opts *opts,
				     const struct heap_wanted *wanted, bool *partial,
				     struct err *err) _must_check_;
struct heap *heap_source_heap(struct heap_source *source);
/* Was it a dump?  It may have what no root leads to. */
bool heap_source_is_dump(const struct heap_source *source);
/*
 * Have the fields told, for heap_via, of the classes that are wanted: one place for each of the
 * heap.  The agent is asked for no others, class by class and superclass.
 */
int heap_source_fields(struct heap_source *source, const bool *wanted, struct err *err)
	_must_check_;
/* "pid" and "file", one of which is null. */
void heap_source_put(const struct ctx *ctx, struct json *doc);
/* Frees it.  -1 with err set: the agent could not undo everything. */
int heap_source_close(struct heap_source *source, struct err *err);

#endif
