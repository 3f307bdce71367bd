#include "cmd/jfr/read_ahead.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>

#include "base/xalloc.h"
#include "fileio/io.h"

/*
 * Blocks that the ring holds, the caller's included.  If all are in use, the thread waits until
 * half of them are free, because a wait takes as long as the reading of several blocks.
 */
#define BLOCKS 16u
#define STRIDE (READ_AHEAD_TAIL_MAX + READ_AHEAD_BLOCK)

struct read_ahead {
	int fd;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t room;   /* the thread waits for a free block, or for a new part */
	pthread_cond_t filled; /* the caller waits for the block that the thread reads */
	/* All that follow are protected by `lock`. */
	uint64_t at, end; /* the part of the file of which no block is in the ring yet */
	unsigned first, n_used; /* the blocks that are in use, from the first one on */
	bool has_caller_block;	/* the first block in use is the caller's */
	bool thread_reads, failed, stops;
	bool full[BLOCKS]; /* false: the block is being read, or could not be read */
	size_t lens[BLOCKS];
	uint8_t ring[BLOCKS][STRIDE]; /* a block begins READ_AHEAD_TAIL_MAX bytes after its start */
};

static uint8_t *block(struct read_ahead *ra, unsigned n)
{
	return ra->ring[n % BLOCKS] + READ_AHEAD_TAIL_MAX;
}

static bool has_work(const struct read_ahead *ra)
{
	return ra->at < ra->end && ra->n_used < BLOCKS && !ra->failed;
}

/* Reads one block.  The lock is held, but not while the function reads. */
static void read_block(struct read_ahead *ra)
{
	unsigned n = (ra->first + ra->n_used++) % BLOCKS;
	uint64_t at = ra->at, left = ra->end - at;
	size_t len = left < READ_AHEAD_BLOCK ? (size_t)left : READ_AHEAD_BLOCK;
	int rc;

	ra->at += len;
	ra->lens[n] = len;
	ra->full[n] = false;
	(void)pthread_mutex_unlock(&ra->lock);
	rc = io_read_at(ra->fd, at, block(ra, n), len);
	(void)pthread_mutex_lock(&ra->lock);
	ra->full[n] = rc == 0;
	ra->failed |= rc < 0;
}

static void *run(void *arg)
{
	struct read_ahead *ra = arg;

	(void)pthread_mutex_lock(&ra->lock);
	while (!ra->stops) {
		if (!has_work(ra)) {
			(void)pthread_cond_wait(&ra->room, &ra->lock);
			continue;
		}
		ra->thread_reads = true;
		read_block(ra);
		ra->thread_reads = false;
		(void)pthread_cond_signal(&ra->filled);
	}
	(void)pthread_mutex_unlock(&ra->lock);
	return NULL;
}

static bool has_second_processor(void)
{
	cpu_set_t set;

	return sched_getaffinity(0, sizeof(set), &set) < 0 || CPU_COUNT(&set) > 1;
}

struct read_ahead *read_ahead_new(int fd)
{
	struct read_ahead *ra;
	sigset_t all, old;
	int rc;

	if (!has_second_processor())
		return NULL;
	ra = xmalloc(sizeof(*ra));
	memset(ra, 0, offsetof(struct read_ahead, ring));
	ra->fd = fd;
	/* These calls cannot fail, because they use no attributes. */
	(void)pthread_mutex_init(&ra->lock, NULL);
	(void)pthread_cond_init(&ra->room, NULL);
	(void)pthread_cond_init(&ra->filled, NULL);
	/* Signals are handled in the caller's thread. */
	(void)sigfillset(&all);
	(void)pthread_sigmask(SIG_SETMASK, &all, &old);
	rc = pthread_create(&ra->thread, NULL, run, ra);
	(void)pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (rc == 0)
		return ra;
	free(ra);
	return NULL;
}

void read_ahead_free(struct read_ahead *ra)
{
	if (!ra)
		return;
	(void)pthread_mutex_lock(&ra->lock);
	ra->stops = true;
	(void)pthread_cond_signal(&ra->room);
	(void)pthread_mutex_unlock(&ra->lock);
	(void)pthread_join(ra->thread, NULL); /* can fail only for an invalid thread id */
	(void)pthread_cond_destroy(&ra->filled);
	(void)pthread_cond_destroy(&ra->room);
	(void)pthread_mutex_destroy(&ra->lock);
	free(ra);
}

void read_ahead_start(struct read_ahead *ra, uint64_t at, uint64_t end)
{
	(void)pthread_mutex_lock(&ra->lock);
	ra->at = ra->end; /* the thread reads no further block of the previous part */
	while (ra->thread_reads)
		(void)pthread_cond_wait(&ra->filled, &ra->lock);
	ra->at = at;
	ra->end = end;
	ra->n_used = 0;
	ra->has_caller_block = false;
	ra->failed = false;
	(void)pthread_cond_signal(&ra->room);
	(void)pthread_mutex_unlock(&ra->lock);
}

/* Gives the caller's block back. */
static void release_block(struct read_ahead *ra)
{
	if (!ra->has_caller_block)
		return;
	ra->first = (ra->first + 1) % BLOCKS;
	ra->n_used--;
	if (ra->n_used <= BLOCKS / 2)
		(void)pthread_cond_signal(&ra->room);
}

/* Waits until block `n` is full.  Returns false at the part's end, or if it cannot be read. */
static bool fill(struct read_ahead *ra, unsigned n)
{
	/* The caller reads later blocks itself while the thread reads this one. */
	while (n >= ra->n_used || !ra->full[(ra->first + n) % BLOCKS]) {
		if (has_work(ra))
			read_block(ra);
		else if (ra->thread_reads)
			(void)pthread_cond_wait(&ra->filled, &ra->lock);
		else
			return false;
	}
	return true;
}

const uint8_t *read_ahead_next(struct read_ahead *ra, const uint8_t *tail, size_t tail_len,
			       size_t *len)
{
	uint8_t *start = NULL;
	unsigned n;

	if (tail_len > READ_AHEAD_TAIL_MAX)
		return NULL;
	(void)pthread_mutex_lock(&ra->lock);
	n = ra->has_caller_block;
	if (fill(ra, n)) {
		start = block(ra, ra->first + n) - tail_len;
		memcpy(start, tail, tail_len);
		release_block(ra);
		ra->has_caller_block = true;
		*len = tail_len + ra->lens[ra->first];
	}
	(void)pthread_mutex_unlock(&ra->lock);
	return start;
}
