/*
 * Writes a heap dump to the caller's file.  Redacts the dump if wanted, or else only checks it;
 * then compresses it if wanted.  Data that must be redacted is redacted before it is written to any
 * disk of the caller.  For the files that the JVM itself writes, see vm_dump_file.h.
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
 * Processes the next bytes of an uncompressed dump; may change `data` in place.  This function is a
 * dump_chunk_fn (vm_dump_stream.h); `o` is the struct dump_output.  Returns 0; or -1 with err set
 * if the data is not a dump or if the file cannot be written.
 */
int dump_output_take(void *o, uint8_t *data, size_t len, struct err *err) _must_check_;
/*
 * Call it after the last dump_output_take(): writes the remaining data.  Returns 0; or -1 with err
 * set, EXIT_PARTIAL if the dump is not complete.
 */
int dump_output_end(struct dump_output *o, struct err *err) _must_check_;
/*
 * Call it after an error of dump_output_take() or dump_output_end().  Returns true if the file
 * could not be written; or false if the dump has caused the error.
 */
bool dump_output_cannot_write(const struct dump_output *o);

#endif
