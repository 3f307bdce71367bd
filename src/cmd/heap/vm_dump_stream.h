/* Reads the JVM's own heap dump while the JVM writes it. */
#ifndef JTOOL_CMD_HEAP_VM_DUMP_STREAM_H
#define JTOOL_CMD_HEAP_VM_DUMP_STREAM_H

#include "cmd/heap/vm_dump_file.h"

/*
 * A function that processes the next chunk, which it may change.  Returns 0, or -1 with err set to
 * stop.
 */
typedef int dump_chunk_fn(void *arg, uint8_t *data, size_t len, struct err *err);

struct dump_limits {
	size_t waiting;    /* limit for the bytes that wait for take() */
	/*
	 * When the limit is reached: 0: the dump is stopped.  Otherwise the JVM waits, and the dump
	 * is stopped when take() has not returned for this time.
	 */
	unsigned stall_ms;
	unsigned pause_ms; /* limit for a JVM that is paused until the dump is read; 0: none */
};

/*
 * Passes the JVM's own dump to take().  The limits also hold if take() is slow or jtool is stopped
 * or killed.  Returns 0, or -1 with err set: EXIT_PARTIAL at a limit, otherwise an error as of
 * vm_dump_file().
 */
int vm_dump_stream(const struct ctx *ctx, const struct dump_wanted *wanted,
		const struct dump_limits *limits, dump_chunk_fn *take, void *arg, struct err *err)
	_must_check_;

#endif
