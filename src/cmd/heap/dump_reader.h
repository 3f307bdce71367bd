/* Reads a heap from a dump file, or from a dump that the JVM is writing meanwhile. */
#ifndef JTOOL_CMD_HEAP_DUMP_READER_H
#define JTOOL_CMD_HEAP_DUMP_READER_H

#include "cli/command.h"
#include "cmd/heap/vm_dump_stream.h"
#include "model/hprof/hprof_read.h"

struct dump_reader_wanted {
	/* limit in bytes for the objects and references; 0: objects are only counted */
	size_t graph_memory;
	/* These two members are as in struct hprof_wants (model/hprof/hprof_read.h). */
	unsigned texts_from;       /* read the start of texts of at least this length; 0: none */
	size_t max_memory;         /* limit in bytes for names, classes, threads, stacks; 0: none */

	struct dump_limits limits; /* limits for a dump that the JVM writes, not for a file */
};

/*
 * Reads a dump into `heap`, which must be empty: the file ctx->file, which may be compressed with
 * gzip; or, if ctx->file is NULL, a dump that ctx->jvm writes.  If the JVM's dump is invalid, the
 * JVM dumps its heap once more: in tests, 1 of about 1,500 dumps of JDK 11 was damaged.
 *
 * Returns the reader, which has read the complete dump, and sets *builder to the objects and
 * references; the caller frees both.  `builder` may be NULL if objects are only counted.  Returns
 * NULL with err set as by input_file_open(), vm_dump_stream() or hprof_feed().
 */
struct hprof_reader *dump_reader_read(const struct ctx *ctx,
				      const struct dump_reader_wanted *wanted, struct heap *heap,
				      struct graph_builder **builder, struct err *err)
	_must_check_;

#endif
