/* Reads a heap from a dump file, or from the JVM's own dump while the JVM writes the dump. */
#ifndef JTOOL_CMD_HEAP_DUMP_READER_H
#define JTOOL_CMD_HEAP_DUMP_READER_H

#include "cli/command.h"
#include "cmd/heap/vm_dump_stream.h"
#include "model/hprof/hprof_read.h"

struct dump_reader_wanted {
	/* The first three are as in struct hprof_wants (model/hprof/hprof_read.h). */
	struct graph_builder *builder; /* not owned; NULL: objects are only counted */
	unsigned texts_from;       /* least length of a text whose start is read; 0: read none */
	size_t max_memory;         /* limit in bytes for names, classes, threads, stacks; 0: none */
	struct dump_limits limits; /* limits for the JVM's own dump, not used for a file */
};

/*
 * Reads the dump file ctx->file (plain or gzip), or if that is NULL, the dump that ctx->jvm writes,
 * into `heap`.  Returns the reader, which has read the complete dump; the caller frees it.  Returns
 * NULL with an error of input_file_open(), vm_dump_stream() or hprof_feed().
 */
struct hprof_reader *dump_reader_read(const struct ctx *ctx,
				      const struct dump_reader_wanted *wanted, struct heap *heap,
				      struct err *err) _must_check_;

#endif
