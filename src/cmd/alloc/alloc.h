/*
 * Parts of the command alloc.
 */
#ifndef JTOOL_CMD_ALLOC_H
#define JTOOL_CMD_ALLOC_H

#include <limits.h>
#include <stdint.h>

#include "cmd.h"
#include "cmd/stackfiles.h"
#include "model/alloc.h"
#include "session/session.h"

#define ALLOC_UNSET UINT_MAX /* durations, rows */
#define ALLOC_ROWS 20        /* of a table, of who says nothing; JSON has all then */
#define ALLOC_INTERVAL_UNSET UINT64_MAX
#define ALLOC_DURATION_MS 10000 /* of who says nothing */

struct alloc_opts {
	unsigned duration_ms; /* ALLOC_UNSET: not given; 0: until it is ended */
	uint64_t interval;    /* ALLOC_INTERVAL_UNSET: not given */
	uint64_t memory;
	unsigned depth, age;
	unsigned rows;        /* ALLOC_UNSET: not given; 0: all */
	int sort;             /* enum alloc_order; -1: not given */
	bool exact, live, recorded, force;
	const char *collapsed, *flamegraph;
};

/* Is what is alive wanted? */
static inline bool alloc_is_live(const struct alloc_opts *opts)
{
	return opts->live || opts->age > 0 || opts->sort >= ALLOC_BY_LIVE_BYTES;
}

/* A new profile, until it ends; then *a is whole.  -1 with err set. */
int alloc_run(const struct ctx *ctx, struct session *s, char *const *globs, struct alloc *a,
	      struct err *err) _must_check_;

/*
 * What has been recorded since the JVM's start: 1 with *a filled, 0 when nothing is, -1 with err
 * set.  *ours: then a session with this build's agent where one is open all the same, or NULL.
 */
int alloc_recorded(const struct ctx *ctx, struct alloc *a, struct session **ours,
		   struct err *err) _must_check_;

/* Send ALLOC; globs NULL: all classes. */
int alloc_request(const struct ctx *ctx, struct session *s, uint32_t flags, char *const *globs,
		  struct err *err) _must_check_;

/* A report's text: is TARGET one, and read it. */
bool alloc_is_report(const char *path);
int alloc_read(const char *path, struct alloc *a, struct err *err) _must_check_;

/* Show what came, and write the files.  -1 with err set: also where it is not whole. */
int alloc_show(const struct ctx *ctx, struct alloc *a, struct stackfiles *files,
	       struct err *err) _must_check_;

#endif
