/*
 * Pieces of bytes from one thread to another: who brings them never waits for who takes them.
 */
#ifndef JTOOL_BASE_HANDOVER_H
#define JTOOL_BASE_HANDOVER_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/util.h"

struct handover_piece {
	struct handover_piece *next; /* private */
	size_t len;
	uint8_t data[];
};

struct handover {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	struct handover_piece *first, **last;
	bool ended, refused;
};

void handover_init(struct handover *h);
/* When neither thread uses it any more. */
void handover_release(struct handover *h);

/* Bring a copy.  -EPIPE: no more is wanted. */
int handover_put(struct handover *h, const void *data, size_t len) _must_check_;
/* That was all. */
void handover_end(struct handover *h);

/* Wait for the next piece, which is the caller's to free; NULL: no more will be brought. */
struct handover_piece *handover_take(struct handover *h) _must_check_;
/* The next one of those that are left then; NULL: none is. */
struct handover_piece *handover_rest(struct handover *h) _must_check_;
/* Take no more; what is there or still comes is dropped. */
void handover_refuse(struct handover *h);

#endif
