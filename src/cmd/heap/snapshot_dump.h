/* Writes a heap dump (HPROF) of the live objects from a snapshot, while the application runs. */
#ifndef JTOOL_CMD_HEAP_SNAPSHOT_DUMP_H
#define JTOOL_CMD_HEAP_SNAPSHOT_DUMP_H

#include "cli/command.h"
#include "cmd/heap/dump_output.h"

enum dump_outcome {
	DUMP_DONE,
	DUMP_FAILED, /* err is set */
	/* the dump by a snapshot failed, and err has the reason; the JVM's own dump may succeed */
	DUMP_CANNOT,
};

/*
 * Writes the dump to `out`.  If a snapshot fails for a temporary reason, takes another one.
 * Returns DUMP_DONE if `out` has the complete dump; *pause_ns is then how long the JVM was paused.
 * Otherwise `out` is empty.
 */
enum dump_outcome snapshot_dump(const struct ctx *ctx, unsigned max_pause_ms,
				const struct dump_output_wanted *wanted, struct atomic_file *out,
				int64_t *pause_ns, struct err *err) _must_check_;

#endif
