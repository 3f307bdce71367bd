/*
 * --engine: how a heap is read.  One list of engines for heaphisto, retained, refpaths and
 * heapdump; each command supports some of them.
 */
#ifndef JTOOL_CMD_HEAP_HEAP_ENGINE_H
#define JTOOL_CMD_HEAP_HEAP_ENGINE_H

#include "cli/command.h"
#include "render/json.h"
#include "session/session.h"

enum heap_engine {
	HEAP_BY_AUTO,     /* the command decides */
	HEAP_BY_SNAPSHOT, /* a copy of the JVM's memory */
	HEAP_BY_AGENT,    /* a heap walk by the agent */
	HEAP_BY_JVMTI,    /* the same, relying only on the JVMTI specification; --strict */
	HEAP_BY_VM,       /* the JVM's own histogram; --vm */
	HEAP_BY_HPROF,    /* the JVM's own heap dump */
};
extern const char *const heap_engines[];

/* `at` is the offset of an int, which becomes an enum heap_engine; `names` are the choices. */
#define HEAP_ENGINE_ROW(at, names)                                                      \
	{ 0, "engine", OPT_CHOICE, (at), "ENGINE", "how the heap is read: " names,      \
	  heap_engines }

/* The engines of a command: bits 1 << HEAP_BY_…. */
struct heap_engine_set {
	unsigned engines;
	const char *why_not; /* why the command lacks the others; a clause */
};

/*
 * Refuses an engine that the command lacks, or that reads no dump file if `file` is set: returns -1
 * with err set (EXIT_USAGE).
 */
int heap_engine_check(const struct heap_engine_set *set, enum heap_engine engine, const char *file,
		      struct err *err) _must_check_;

/* Adds "engine" and "pause" to a document.  pause_ns: how long the JVM was paused; -1: unknown. */
void heap_engine_put(enum heap_engine engine, int64_t pause_ns, struct json *doc);

/* Snapshots, for all commands that read a heap from one. */

#define SNAPSHOT_TRIES 3

/*
 * Returns how long the child process may live, in ms.  While it exists, pages that the application
 * writes to are copied.
 */
uint32_t snapshot_life_ms(const struct jvm *jvm);

/*
 * Looks whether the JVM has the memory for a snapshot, and whether its pause will be at most
 * max_pause_ms, which it reports.  Returns -1 with err set (EXIT_PARTIAL) if not.
 */
int snapshot_check(const struct ctx *ctx, unsigned max_pause_ms, struct err *err) _must_check_;

/* Sets err to why there is no snapshot; `code` is the errno of some reasons. */
void snapshot_failed(const struct ctx *ctx, enum wire_snapshot_why why, int code,
		     struct err *err);
/* Returns whether a later attempt may succeed. */
bool snapshot_may_try_again(enum wire_snapshot_why why);

#endif
