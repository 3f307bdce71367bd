/*
 * The chunks of a flight recording.  A recording is a sequence of chunks.  The header of a chunk
 * starts with "FLR\0" and contains the size of the chunk in bytes (JDK's
 * jdk/jfr/internal/consumer/ChunkHeader.java).
 */
#ifndef JTOOL_MODEL_JFR_JFR_CHUNKS_H
#define JTOOL_MODEL_JFR_JFR_CHUNKS_H

#include <stddef.h>
#include <stdint.h>

#include "base/util.h"

/* length of a chunk's header in bytes; ChunkHeader.HEADER_SIZE */
#define JFR_HEADER_LEN 68

/*
 * A function that reads len bytes at offset `at` of the recording.  Returns 0 or a negative errno.
 */
typedef int jfr_read_fn(void *arg, uint64_t at, void *data, size_t len);

/*
 * Returns the number of chunks in a recording of `size` bytes; -EBADMSG if the recording has no
 * chunk, or if its last chunk does not end at `size`; or the negative errno that read() has
 * returned.
 */
int64_t jfr_chunks_count(jfr_read_fn *read, void *arg, uint64_t size) _must_check_;

#endif
