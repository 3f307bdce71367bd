/*
 * A heap from a dump of it: the JVM's own, read as it comes, or one in a file.
 */
#ifndef JTOOL_CMD_HEAP_DUMP_H
#define JTOOL_CMD_HEAP_DUMP_H

#include "cmd.h"
#include "cmd/hprof.h"
#include "model/hprof_read.h"

struct heap_dump_wanted {
	struct graph_builder *builder; /* as in struct hprof_wants, both */
	unsigned texts_from;
	struct hprof_limits limits; /* of the JVM's own */
};

/*
 * Of ctx->jvm, or of ctx->file when that is not NULL (gzip or not); objects are sized as in the
 * JVM that wrote it.  Returns the reader, at its end, which is the caller's; NULL with err set:
 * EXIT_TARGET when there is no such file, else as hprof_flow() and hprof_feed() have it.
 */
struct hprof_reader *heap_dump_read(const struct ctx *ctx, const struct heap_dump_wanted *wanted,
				    struct heap *heap, struct err *err) _must_check_;

#endif
