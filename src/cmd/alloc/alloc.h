/* Declarations shared by the files of the command alloc. */
#ifndef JTOOL_CMD_ALLOC_ALLOC_H
#define JTOOL_CMD_ALLOC_ALLOC_H

#include <limits.h>
#include <stdint.h>

#include "cli/command.h"
#include "cmd/stack_files.h"
#include "model/profile/alloc.h"
#include "session/session.h"

#define ALLOC_UNSET UINT_MAX /* `duration_ms` has this value if -d was not given */
#define ALLOC_INTERVAL_UNSET UINT64_MAX
#define ALLOC_DURATION_MS 10000 /* default of `duration_ms` */
#define ALLOC_MEMORY_MIN (UINT64_C(1) << 20)

struct alloc_opts {
	unsigned duration_ms; /* ALLOC_UNSET: not given; 0: until a signal arrives */
	uint64_t interval;    /* sampling interval in bytes; ALLOC_INTERVAL_UNSET: not given */
	uint64_t memory;      /* bytes of memory that the agent may use */
	/*
	 * `depth` is the maximum number of frames of a stack.  A live object is counted only if it
	 * has survived at least `age` collections.
	 */
	unsigned depth, age;
	unsigned limit;
	int sort;             /* enum alloc_order; -1: not given */
	bool exact, live, recorded, no_lines, force;
	const char *paths[STACKFILE_KINDS]; /* paths of the output files; NULL: not given */
};

/*
 * Returns true if the profile counts not only allocations but also live objects: if --live, --age,
 * or --sort with an order by live objects was given.
 */
static inline bool alloc_is_live(const struct alloc_opts *opts)
{
	return opts->live || opts->age > 0 || opts->sort >= ALLOC_BY_LIVE_BYTES;
}

/* Runs a new profile until it ends, and fills *a.  Returns 0, or -1 with err set. */
int alloc_run(const struct ctx *ctx, struct session *s, char *const *globs, struct alloc *a,
	      struct err *err) _must_check_;

/*
 * Reads the recording that began at the JVM's start.  Returns 1 with *a filled in; 0 if there is no
 * recording; or -1 with err set.  The search for a recording may open a session with this build's
 * agent.  If the result is 0, *ours is this session, which the caller closes, or NULL if none was
 * opened; otherwise *ours is NULL.
 */
int alloc_recorded(const struct ctx *ctx, struct alloc *a, struct session **ours,
		   struct err *err) _must_check_;

/*
 * Sends the request ALLOC (agent/wire/frames.def) for the classes that match `globs`; NULL: all
 * classes.  Returns 0, or -1 with err set.
 */
int alloc_request(const struct ctx *ctx, struct session *s, uint32_t flags, char *const *globs,
		  struct err *err) _must_check_;

/* Returns true if the file `path` is a report: a file to which an agent has written a recording. */
bool alloc_is_report(const char *path);
int alloc_read(const char *path, struct alloc *a, struct err *err) _must_check_;

/*
 * Prints the profile `a`, and writes its stacks to `files`.  Returns 0; or -1 with err set if an
 * output fails or if the profile is incomplete.
 */
int alloc_show(const struct ctx *ctx, struct alloc *a, struct stack_files *files,
	       struct err *err) _must_check_;

#endif
