/*
 * Byte queue between two threads.  The producer never blocks: a push fails when the queue would use
 * more memory than allowed.
 */
#ifndef JTOOL_FILEIO_BYTE_QUEUE_H
#define JTOOL_FILEIO_BYTE_QUEUE_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/util.h"

struct byte_chunk {
	struct byte_chunk *next; /* used by the queue only */
	size_t len;
	uint8_t data[];
};

struct byte_queue {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	struct byte_chunk *first, **last;
	size_t waiting, max; /* memory of all chunks in bytes, and its limit */
	bool ended, refused;
};

/*
 * Initialises an empty queue.  `max` limits its memory in bytes, including malloc's overhead for
 * each chunk.
 */
void byte_queue_init(struct byte_queue *q, size_t max);
/* Frees the queue and its chunks.  Call it after both threads have finished with the queue. */
void byte_queue_release(struct byte_queue *q);

/*
 * Producer: appends a copy of the data.  Returns 0; -ENOBUFS beyond the limit; or -EPIPE after
 * byte_queue_cancel().
 */
int byte_queue_push(struct byte_queue *q, const void *data, size_t len) _must_check_;
/* Producer: marks the end of the data. */
void byte_queue_end(struct byte_queue *q);

/*
 * Consumer: waits for the next chunk, which the caller frees.  Returns NULL after byte_queue_end(),
 * even if chunks are left; byte_queue_pop_rest() returns the remaining chunks.
 */
struct byte_chunk *byte_queue_pop(struct byte_queue *q) _must_check_;
/*
 * Consumer: returns a chunk that was in the queue at byte_queue_end(), or NULL if none is left.
 * The caller frees it.
 */
struct byte_chunk *byte_queue_pop_rest(struct byte_queue *q) _must_check_;
/* Consumer: frees all chunks, and makes later pushes fail. */
void byte_queue_cancel(struct byte_queue *q);

#endif
