/* Writes a heap dump (HPROF) of the live objects from a snapshot, while the application runs. */
#ifndef JTOOL_CMD_HEAP_SNAPSHOT_DUMP_H
#define JTOOL_CMD_HEAP_SNAPSHOT_DUMP_H

#include "cli/command.h"
#include "cmd/heap/dump_output.h"

enum dump_outcome {
	DUMP_DONE,
	DUMP_FAILED, /* err is set */
	DUMP_CANNOT, /* err says why there is no snapshot; the JVM's own dump may be possible */
};

/*
 * DUMP_DONE: `out` has the complete dump, and *pause_ns is how long the JVM was paused; otherwise
 * `out` is empty.  Tries again if a snapshot fails by chance.
 */
enum dump_outcome snapshot_dump(const struct ctx *ctx, unsigned max_pause_ms,
				const struct dump_output_wanted *wanted, struct atomic_file *out,
				int64_t *pause_ns, struct err *err) _must_check_;

#endif
