/*
 * Passes a heap dump to the caller's file: checks or redacts it, compresses it if wanted, and
 * writes it.  Data that must be redacted is not written to any disk of the caller before it is
 * redacted.
 */
#ifndef JTOOL_CMD_HEAP_DUMP_SINK_H
#define JTOOL_CMD_HEAP_DUMP_SINK_H

#include "fileio/atomic_file.h"
#include "model/hprof/hprof_redact.h"

struct dump_sink;

struct dump_sink_wanted {
	enum hprof_redact redact;
	unsigned gzip; /* compression level, 1 to 9; 0: not compressed */
};

/* Returns a sink that writes to `out`, which must stay valid until the sink is freed. */
struct dump_sink *dump_sink_new(struct atomic_file *out, const struct dump_sink_wanted *wanted)
	_must_check_;
void dump_sink_free(struct dump_sink *sink);

/*
 * Processes the next bytes of an uncompressed dump, and may change them.  It is a dump_chunk_fn.
 * Returns 0, or -1 with err set if the data is not a dump or the file cannot be written.
 */
int dump_sink_take(void *sink, uint8_t *data, size_t len, struct err *err) _must_check_;
/*
 * Writes the remaining data.  Returns -1 with err set (EXIT_PARTIAL) if the dump is not complete.
 */
int dump_sink_end(struct dump_sink *sink, struct err *err) _must_check_;

#endif
