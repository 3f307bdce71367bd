/*
 * The option --engine: how a heap is read.  heaphisto, retained, refpaths and heapdump share one
 * list of engines; each command supports some of them.
 */
#ifndef JTOOL_CMD_HEAP_HEAP_ENGINE_H
#define JTOOL_CMD_HEAP_HEAP_ENGINE_H

#include "cli/command.h"
#include "render/json.h"
#include "session/session.h"

enum heap_engine {
	HEAP_BY_AUTO,     /* the command decides */
	HEAP_BY_SNAPSHOT, /* reads a copy of the JVM's memory in a forked child */
	HEAP_BY_AGENT,    /* the agent walks the heap */
	/* as HEAP_BY_AGENT, but uses only what the JVMTI specification guarantees (--strict) */
	HEAP_BY_JVMTI,
	HEAP_BY_VM,       /* the JVM's own histogram (--vm) */
	HEAP_BY_HPROF,    /* the JVM's own heap dump */
};
extern const char *const heap_engines[];

/*
 * The row for --engine in a command's table of option rows.  `at` is the offset of an int in the
 * command's option struct; the option sets this int to an enum heap_engine.  `names` is the text of
 * --help that names the choices.
 */
#define HEAP_ENGINE_ROW(at, names)                                                      \
	{ 0, "engine", OPT_CHOICE, (at), "ENGINE", "how the heap is read: " names,      \
	  heap_engines }

/* The engines that a command supports: bits 1 << HEAP_BY_…. */
struct heap_engine_set {
	unsigned engines;
	const char *why_not; /* for the error: why the command does not support the other engines */
};

/*
 * Returns -1 with err set (EXIT_USAGE) if the command does not support the engine, or if `file` is
 * set and the engine cannot read a dump file.
 */
int heap_engine_check(const struct heap_engine_set *set, enum heap_engine engine, const char *file,
		      struct err *err) _must_check_;

/*
 * Adds "engine" and "pause" to a JSON document.  `pause_ns` is how long the JVM was paused; -1:
 * unknown.
 */
void heap_engine_put(enum heap_engine engine, int64_t pause_ns, struct json *doc);

/* The rest of this header is for all commands that read a heap from a snapshot. */

#define SNAPSHOT_TRIES 3

/*
 * Returns how long the snapshot's child process may live, in ms.  The life is limited because,
 * while the child exists, the kernel copies each page that the application writes to.
 */
uint32_t snapshot_life_ms(const struct jvm *jvm);

/*
 * Checks that the JVM has enough memory for a snapshot, and that the expected pause is at most
 * max_pause_ms.  Prints the expected pause with --verbose.  Returns 0, or -1 with err set
 * (EXIT_PARTIAL).
 */
int snapshot_check(const struct ctx *ctx, unsigned max_pause_ms, struct err *err) _must_check_;

/*
 * Sets err for a snapshot that has failed for the reason `why`.  `code` is the errno of the failed
 * system call, for reasons that have one.
 */
void snapshot_failed(const struct ctx *ctx, enum wire_snapshot_why why, int code,
		     struct err *err);
/*
 * Returns whether another attempt at a snapshot may succeed after it failed for the reason `why`.
 */
bool snapshot_may_try_again(enum wire_snapshot_why why);

#endif
