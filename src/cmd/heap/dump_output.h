/*
 * Writes a heap dump to the caller's file: checks or redacts the dump, and compresses it if wanted.
 * Data that must be redacted is not written to any disk of the caller before it is redacted.
 */
#ifndef JTOOL_CMD_HEAP_DUMP_OUTPUT_H
#define JTOOL_CMD_HEAP_DUMP_OUTPUT_H

#include "fileio/atomic_file.h"
#include "model/hprof/hprof_redact.h"

struct dump_output;

struct dump_output_wanted {
	enum hprof_redact redact;
	unsigned gzip; /* compression level, 1 to 9; 0: not compressed */
};

/* Returns an output that writes to `out`, which must stay valid until the output is freed. */
struct dump_output *dump_output_new(struct atomic_file *out,
				    const struct dump_output_wanted *wanted) _must_check_;
void dump_output_free(struct dump_output *o);

/*
 * Processes the next bytes of an uncompressed dump, and may change them.  This function is a
 * dump_chunk_fn (vm_dump_stream.h); `o` is the struct dump_output.  Returns 0, or -1 with err set
 * if the data is not a dump or the file cannot be written.
 */
int dump_output_take(void *o, uint8_t *data, size_t len, struct err *err) _must_check_;
/*
 * Writes the remaining data after the last dump_output_take().  Returns -1 with err set
 * (EXIT_PARTIAL) if the dump is not complete.
 */
int dump_output_end(struct dump_output *o, struct err *err) _must_check_;
/*
 * After an error of dump_output_take() or dump_output_end(): returns true if the caller's file
 * cannot be written, false if the dump is at fault.
 */
bool dump_output_cannot_write(const struct dump_output *o);

#endif
