/*
 * A flight recording is a sequence of chunks; the header of each starts with "FLR\0" and has its
 * size in bytes (JDK's jdk/jfr/internal/consumer/ChunkHeader.java).
 */
#ifndef JTOOL_MODEL_JFR_JFR_CHUNKS_H
#define JTOOL_MODEL_JFR_JFR_CHUNKS_H

#include <stddef.h>
#include <stdint.h>

#include "base/util.h"

/* Reads len bytes at offset `at` of the recording.  Returns 0 or a negative errno. */
typedef int jfr_read_fn(void *arg, uint64_t at, void *data, size_t len);

/*
 * Returns the number of chunks in a recording of `size` bytes, -EBADMSG if there is none or the
 * last one does not end at `size`, or the error of read().
 */
int64_t jfr_chunks_count(jfr_read_fn *read, void *arg, uint64_t size) _must_check_;

#endif
