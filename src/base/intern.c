#include "base/intern.h"

#define XXH_INLINE_ALL
#include <string.h>
#include <xxhash.h>

#include "base/xalloc.h"

void intern_release(struct intern *in)
{
	buf_release(&in->bytes);
	free(in->ends);
	free(in->slots);
	*in = (struct intern){ 0 };
}

const void *intern_get(const struct intern *in, uint32_t number, size_t *len)
{
	size_t start = number > 0 ? in->ends[number - 1] : 0;

	if (len)
		*len = in->ends[number] - start;
	return in->bytes.data + start;
}

/* Where these bytes are, or where they would be. */
static uint32_t *find_slot(const struct intern *in, const void *data, size_t len)
{
	size_t at = XXH64(data, len, 0) & (in->n_slots - 1), there_len;

	for (; in->slots[at] != 0; at = (at + 1) & (in->n_slots - 1)) {
		const void *there = intern_get(in, in->slots[at] - 1, &there_len);

		if (there_len == len && memcmp(there, data, len) == 0)
			break;
	}
	return &in->slots[at];
}

static void grow(struct intern *in)
{
	free(in->slots);
	in->n_slots = in->n_slots ? 2 * in->n_slots : 64;
	in->slots = xcalloc(in->n_slots, sizeof(*in->slots));
	for (uint32_t i = 0; i < in->n; i++) {
		size_t len;
		const void *data = intern_get(in, i, &len);

		*find_slot(in, data, len) = i + 1;
	}
}

uint32_t intern_add(struct intern *in, const void *data, size_t len)
{
	uint32_t *slot;

	if (in->n >= in->n_slots / 2)
		grow(in);
	slot = find_slot(in, data, len);
	if (*slot != 0)
		return *slot - 1;
	in->ends = xgrow(in->ends, in->n, &in->cap, sizeof(*in->ends));
	buf_add(&in->bytes, data, len);
	in->ends[in->n++] = in->bytes.len;
	*slot = (uint32_t)in->n;
	return *slot - 1;
}

uint32_t intern_text(struct intern *in, const char *text)
{
	return intern_add(in, text, strlen(text) + 1);
}
