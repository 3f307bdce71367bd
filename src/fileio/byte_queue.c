#include "fileio/byte_queue.h"

#include <errno.h>
#include <string.h>

#include "base/xalloc.h"

/* Bytes that malloc(3) adds to each block for its own data. */
#define BLOCK_OVERHEAD 16

/* Returns the memory in bytes that a chunk with `len` bytes of data takes. */
static size_t cost(size_t len)
{
	return sizeof(struct byte_chunk) + BLOCK_OVERHEAD + len;
}

void byte_queue_init(struct byte_queue *q, size_t max)
{
	*q = (struct byte_queue){ .max = max };
	q->last = &q->first;
	/* This call and the next cannot fail, because they use no attributes. */
	(void)pthread_mutex_init(&q->lock, NULL);
	(void)pthread_cond_init(&q->changed, NULL);
}

static void drop_all(struct byte_queue *q)
{
	while (q->first) {
		struct byte_chunk *chunk = q->first;

		q->first = chunk->next;
		free(chunk);
	}
	q->last = &q->first;
	q->waiting = 0;
}

void byte_queue_release(struct byte_queue *q)
{
	drop_all(q);
	(void)pthread_cond_destroy(&q->changed);
	(void)pthread_mutex_destroy(&q->lock);
}

int byte_queue_push(struct byte_queue *q, const void *data, size_t len)
{
	struct byte_chunk *chunk = xmalloc(sizeof(*chunk) + len);
	int rc = 0;

	chunk->next = NULL;
	chunk->len = len;
	memcpy(chunk->data, data, len);
	(void)pthread_mutex_lock(&q->lock);
	if (q->refused) {
		rc = -EPIPE;
	} else if (q->max - q->waiting < cost(len)) {
		rc = -ENOBUFS;
	} else {
		q->waiting += cost(len);
		*q->last = chunk;
		q->last = &chunk->next;
	}
	(void)pthread_cond_signal(&q->changed);
	(void)pthread_mutex_unlock(&q->lock);
	if (rc < 0)
		free(chunk);
	return rc;
}

void byte_queue_end(struct byte_queue *q)
{
	(void)pthread_mutex_lock(&q->lock);
	q->ended = true;
	(void)pthread_cond_signal(&q->changed);
	(void)pthread_mutex_unlock(&q->lock);
}

static struct byte_chunk *take_first(struct byte_queue *q)
{
	struct byte_chunk *chunk = q->first;

	if (chunk) {
		q->first = chunk->next;
		q->waiting -= cost(chunk->len);
	}
	if (!q->first)
		q->last = &q->first;
	return chunk;
}

struct byte_chunk *byte_queue_pop(struct byte_queue *q)
{
	struct byte_chunk *chunk;

	(void)pthread_mutex_lock(&q->lock);
	while (!q->first && !q->ended)
		(void)pthread_cond_wait(&q->changed, &q->lock);
	chunk = q->ended ? NULL : take_first(q);
	(void)pthread_mutex_unlock(&q->lock);
	return chunk;
}

struct byte_chunk *byte_queue_pop_rest(struct byte_queue *q)
{
	struct byte_chunk *chunk;

	(void)pthread_mutex_lock(&q->lock);
	chunk = take_first(q);
	(void)pthread_mutex_unlock(&q->lock);
	return chunk;
}

void byte_queue_cancel(struct byte_queue *q)
{
	(void)pthread_mutex_lock(&q->lock);
	q->refused = true;
	drop_all(q);
	(void)pthread_mutex_unlock(&q->lock);
}
