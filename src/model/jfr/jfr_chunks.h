/*
 * A flight recording is one or more chunks back to back, each with a header that tells its size
 * ("FLR\0", JDK's jdk/jfr/internal/consumer/ChunkHeader.java).  Pure: read through a callback.
 */
#ifndef JTOOL_MODEL_JFR_CHUNKS_H
#define JTOOL_MODEL_JFR_CHUNKS_H

#include <stddef.h>
#include <stdint.h>

#include "base/util.h"

/* Read len bytes at this place of the recording: 0, or a negative errno. */
typedef int jfr_read(void *arg, uint64_t at, void *data, size_t len);

/*
 * Walk the headers of a recording of `size` bytes: how many chunks it has, or -EBADMSG when it has
 * none or they do not end where the recording does, or what read() returned.
 */
int64_t jfr_chunks_count(jfr_read *read, void *arg, uint64_t size) _must_check_;

#endif
