/*
 * Having the JVM dump its heap (HPROF): into a file of the caller's, or to be read as it comes.
 *
 * Through a FIFO where the JVM writes to what is there already: then nothing of it stands in the
 * target, and the JVM, which stands still meanwhile, writes as fast as to a file of its own.
 * From a file that it makes where it does not (before JDK 17).
 */
#ifndef JTOOL_CMD_HPROF_H
#define JTOOL_CMD_HPROF_H

#include "base/outfile.h"
#include "cmd.h"

struct hprof_wanted {
	bool all;      /* unreachable objects, too, and no collection before */
	unsigned gzip; /* level, 0: not compressed */
};

/*
 * Returns 0 when all of it is in the file, which is not committed; else -1 with err set:
 * EXIT_ANSWER when the JVM refused or cannot, EXIT_PARTIAL when it is not whole.
 */
int hprof_take(const struct ctx *ctx, const struct hprof_wanted *wanted, struct outfile *out,
	       struct err *err) _must_check_;

/* The next piece; 0, or -1 with err set: no more of it is wanted. */
typedef int hprof_piece_fn(void *arg, const uint8_t *data, size_t len, struct err *err);

struct hprof_limits {
	size_t waiting;    /* bytes that wait to be taken, at most */
	unsigned pause_ms; /* a JVM that stands still while we take it does so no longer */
};

/*
 * Hand the dump of all that is reachable to take(), piece by piece.  It may be as slow as it
 * likes, and be stopped or killed: the JVM is not held up.  -1 with err set as hprof_take(), or
 * EXIT_PARTIAL beyond a limit.
 */
int hprof_flow(const struct ctx *ctx, const struct hprof_limits *limits, hprof_piece_fn *take,
	       void *arg, struct err *err) _must_check_;

#endif
