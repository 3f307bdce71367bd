#include "base/handover.h"

#include <errno.h>
#include <string.h>

#include "base/xalloc.h"

void handover_init(struct handover *h)
{
	*h = (struct handover){ .ended = false };
	h->last = &h->first;
	(void)pthread_mutex_init(&h->lock, NULL); /* both fail for attributes only */
	(void)pthread_cond_init(&h->changed, NULL);
}

static void drop_all(struct handover *h)
{
	while (h->first) {
		struct handover_piece *piece = h->first;

		h->first = piece->next;
		free(piece);
	}
	h->last = &h->first;
}

void handover_release(struct handover *h)
{
	drop_all(h);
	(void)pthread_cond_destroy(&h->changed);
	(void)pthread_mutex_destroy(&h->lock);
}

int handover_put(struct handover *h, const void *data, size_t len)
{
	struct handover_piece *piece = xmalloc(sizeof(*piece) + len);
	bool refused;

	piece->next = NULL;
	piece->len = len;
	memcpy(piece->data, data, len);
	(void)pthread_mutex_lock(&h->lock);
	refused = h->refused;
	if (!refused) {
		*h->last = piece;
		h->last = &piece->next;
	}
	(void)pthread_cond_signal(&h->changed);
	(void)pthread_mutex_unlock(&h->lock);
	if (refused)
		free(piece);
	return refused ? -EPIPE : 0;
}

void handover_end(struct handover *h)
{
	(void)pthread_mutex_lock(&h->lock);
	h->ended = true;
	(void)pthread_cond_signal(&h->changed);
	(void)pthread_mutex_unlock(&h->lock);
}

static struct handover_piece *take_first(struct handover *h)
{
	struct handover_piece *piece = h->first;

	if (piece)
		h->first = piece->next;
	if (!h->first)
		h->last = &h->first;
	return piece;
}

struct handover_piece *handover_take(struct handover *h)
{
	struct handover_piece *piece;

	(void)pthread_mutex_lock(&h->lock);
	while (!h->first && !h->ended)
		(void)pthread_cond_wait(&h->changed, &h->lock);
	piece = h->ended ? NULL : take_first(h);
	(void)pthread_mutex_unlock(&h->lock);
	return piece;
}

struct handover_piece *handover_rest(struct handover *h)
{
	struct handover_piece *piece;

	(void)pthread_mutex_lock(&h->lock);
	piece = take_first(h);
	(void)pthread_mutex_unlock(&h->lock);
	return piece;
}

void handover_refuse(struct handover *h)
{
	(void)pthread_mutex_lock(&h->lock);
	h->refused = true;
	drop_all(h);
	(void)pthread_mutex_unlock(&h->lock);
}
