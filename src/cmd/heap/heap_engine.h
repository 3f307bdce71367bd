/*
 * The option --engine, which selects how a heap is read.  The commands heaphisto, retained,
 * refpaths and heapdump share one list of engines; each command supports some of these engines.
 */
#ifndef JTOOL_CMD_HEAP_HEAP_ENGINE_H
#define JTOOL_CMD_HEAP_HEAP_ENGINE_H

#include "cli/command.h"
#include "render/json.h"
#include "session/session.h"

enum heap_engine {
	HEAP_BY_AUTO,     /* the command chooses the engine */
	/* the agent clones the JVM's process; the child reads its copy of the heap */
	HEAP_BY_SNAPSHOT,
	HEAP_BY_AGENT,    /* the agent walks the heap in the JVM */
	/* like HEAP_BY_AGENT, but the agent relies on the JVMTI specification only (--strict) */
	HEAP_BY_JVMTI,
	HEAP_BY_VM,       /* the JVM itself makes a histogram (--vm) */
	HEAP_BY_HPROF,    /* the JVM itself writes a heap dump, which jtool reads */
};
extern const char *const heap_engines[];

/*
 * The row for --engine in a command's table of options.  `at` is the offset of an int in the
 * command's option struct; the option sets this int to an enum heap_engine.  `names` is the part of
 * the text of --help that lists the engines of the command.
 */
#define HEAP_ENGINE_ROW(at, names)                                                      \
	{ 0, "engine", OPT_CHOICE, (at), "ENGINE", "how the heap is read: " names,      \
	  heap_engines }

/* The engines that a command supports. */
struct heap_engine_set {
	unsigned engines;    /* bits 1 << HEAP_BY_… */
	const char *why_not; /* part of the error: why the command supports no other engine */
};

/*
 * Returns 0; or -1 with err set (EXIT_USAGE) if the command does not support the engine, or if
 * `file` is not NULL and the engine cannot read a dump file.
 */
int heap_engine_check(const struct heap_engine_set *set, enum heap_engine engine, const char *file,
		      struct err *err) _must_check_;

/*
 * Adds the members "engine" and "pause" to a JSON document.  `pause_ns` is how long the JVM was
 * paused; -1: unknown.
 */
void heap_engine_put(enum heap_engine engine, int64_t pause_ns, struct json *doc);

/* The rest of this header is for all commands that read a heap from a snapshot. */

#define SNAPSHOT_TRIES 3

/*
 * Returns how long the snapshot's child process may live, in ms.  Its life is limited because,
 * while the child lives, the kernel copies each page before the application writes to it.
 */
uint32_t snapshot_life_ms(const struct jvm *jvm);

/*
 * Checks that there is enough memory for a snapshot of the JVM, and that the expected pause is at
 * most max_pause_ms.  With --verbose, prints the expected pause.  Returns 0; or -1 with err set
 * (EXIT_PARTIAL) if a check fails.
 */
int snapshot_check(const struct ctx *ctx, unsigned max_pause_ms, struct err *err) _must_check_;

/*
 * Sets err to the error of a snapshot that has failed because of `why`.  If `why` means that a
 * system call failed, `code` is the errno of that call.
 */
void snapshot_failed(const struct ctx *ctx, enum wire_snapshot_why why, int code,
		     struct err *err);
/*
 * Returns true if another snapshot may succeed although the last one has failed because of `why`.
 */
bool snapshot_may_try_again(enum wire_snapshot_why why);

#endif
