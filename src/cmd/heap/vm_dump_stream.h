/* Reads the JVM's own heap dump while the JVM writes it. */
#ifndef JTOOL_CMD_HEAP_VM_DUMP_STREAM_H
#define JTOOL_CMD_HEAP_VM_DUMP_STREAM_H

#include "cmd/heap/vm_dump_file.h"

/*
 * A function that processes the next chunk of a dump, and may change the chunk.  Returns 0, or -1
 * with err set to stop.  A function that is passed to dump_input_read() may in addition return 1,
 * to stop without an error.
 */
typedef int dump_chunk_fn(void *arg, uint8_t *data, size_t len, struct err *err);

struct dump_limits {
	size_t waiting;    /* limit in bytes for the part of the dump that waits for take() */
	/*
	 * 0: the dump is stopped when `waiting` is reached.  Otherwise: the JVM has to wait when
	 * `waiting` is reached, and the dump is stopped if take() processes no data for stall_ms.
	 */
	unsigned stall_ms;
	/* limit in ms for the pause, if the JVM is paused until its dump is read; 0: no limit */
	unsigned pause_ms;
	/*
	 * end of the error text when `waiting` is reached and stall_ms is 0: what the user can do.
	 * May be NULL if stall_ms is not 0.
	 */
	const char *advice;
};

/*
 * Passes the JVM's own dump to take().  The limits hold even if take() is slow, or if a signal
 * stops or kills jtool.  Returns 0, or -1 with err set: EXIT_PARTIAL if a limit was reached; the
 * other codes are those of vm_dump_file().
 */
int vm_dump_stream(const struct ctx *ctx, const struct dump_wanted *wanted,
		const struct dump_limits *limits, dump_chunk_fn *take, void *arg, struct err *err)
	_must_check_;

#endif
