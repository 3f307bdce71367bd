/* Reads a heap from a dump, which is a file, or the JVM's own dump while the JVM writes it. */
#ifndef JTOOL_CMD_HEAP_DUMP_READER_H
#define JTOOL_CMD_HEAP_DUMP_READER_H

#include "cli/command.h"
#include "cmd/heap/vm_dump_stream.h"
#include "model/hprof/hprof_read.h"

struct dump_reader_wanted {
	struct graph_builder *builder; /* this and the next two: see struct hprof_wants */
	unsigned texts_from;           /* see struct hprof_wants */
	size_t max_memory;         /* see struct hprof_wants */
	struct dump_limits limits; /* for the JVM's own dump */
};

/*
 * Reads the file ctx->file (plain or gzip), or the dump of ctx->jvm if ctx->file is NULL.  Returns
 * the reader, which has read the complete dump; the caller frees it.  Returns NULL with an error of
 * input_file_open(), vm_dump_stream() or hprof_feed().
 */
struct hprof_reader *dump_reader_read(const struct ctx *ctx,
				      const struct dump_reader_wanted *wanted, struct heap *heap,
				      struct err *err) _must_check_;

#endif
