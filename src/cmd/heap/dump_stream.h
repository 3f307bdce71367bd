/* Reads the JVM's own heap dump while the JVM writes it. */
#ifndef JTOOL_CMD_HEAP_DUMP_STREAM_H
#define JTOOL_CMD_HEAP_DUMP_STREAM_H

#include "cli/command.h"

/* Handles the next chunk.  Returns 0, or -1 with err set to stop. */
typedef int dump_chunk_fn(void *arg, const uint8_t *data, size_t len, struct err *err);

struct dump_limits {
	size_t waiting;    /* bytes that may wait for take() */
	unsigned pause_ms; /* of a JVM that pauses until the dump is read; 0: no limit */
};

/*
 * Passes the dump of all reachable objects to take().  The JVM does not wait if take() is slow or
 * jtool is stopped or killed.  Returns 0, or -1 with err set: EXIT_PARTIAL at a limit, otherwise
 * as by dump_to_file().
 */
int dump_stream(const struct ctx *ctx, const struct dump_limits *limits, dump_chunk_fn *take,
		void *arg, struct err *err) _must_check_;

#endif
