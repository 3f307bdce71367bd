/*
 * Numbers for texts, or for any bytes: the same for the same, from 0 on in the order in which
 * they come.
 */
#ifndef JTOOL_BASE_INTERN_H
#define JTOOL_BASE_INTERN_H

#include <stdint.h>

#include "base/buf.h"

struct intern {
	struct buf bytes;
	size_t *ends;    /* of each, in bytes */
	size_t n, cap;
	uint32_t *slots; /* number + 1, where its hash or the next free place is */
	size_t n_slots;
};

void intern_release(struct intern *in);

/* Its number.  There are never 2^32 of them. */
uint32_t intern_add(struct intern *in, const void *data, size_t len);
uint32_t intern_text(struct intern *in, const char *text);
/* What has that number; good until the next one is added.  len may be NULL. */
const void *intern_get(const struct intern *in, uint32_t number, size_t *len);

#endif
