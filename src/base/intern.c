#include "base/intern.h"

#include <stdbool.h>
#include <string.h>

#include "base/hash.h"
#include "base/xalloc.h"

void intern_release(struct intern *in)
{
	buf_release(&in->bytes);
	free(in->ends);
	id_map_release(&in->numbers);
	*in = (struct intern){ 0 };
}

const void *intern_get(const struct intern *in, uint32_t number, size_t *len)
{
	size_t start = number > 0 ? in->ends[number - 1] : 0;

	if (len)
		*len = in->ends[number] - start;
	return in->bytes.data + start;
}

static bool is_same(const struct intern *in, uint32_t number, const void *data, size_t len)
{
	size_t stored_len;
	const void *stored = intern_get(in, number, &stored_len);

	return stored_len == len && memcmp(stored, data, len) == 0;
}

uint32_t intern_add(struct intern *in, const void *data, size_t len)
{
	uint64_t hash = hash_bytes(data, len);
	uint32_t number;

	while ((number = id_map_add(&in->numbers, hash, (uint32_t)in->n)) < in->n) {
		if (is_same(in, number, data, len))
			return number;
		hash++;
	}
	in->ends = xgrow(in->ends, in->n, &in->cap, sizeof(*in->ends));
	buf_add(&in->bytes, data, len);
	in->ends[in->n++] = in->bytes.len;
	return number;
}

uint32_t intern_find(const struct intern *in, const void *data, size_t len)
{
	uint64_t hash = hash_bytes(data, len);
	uint32_t number;

	while ((number = id_map_get(&in->numbers, hash)) != ID_MAP_NONE) {
		if (is_same(in, number, data, len))
			break;
		hash++;
	}
	return number;
}

uint32_t intern_text(struct intern *in, const char *text)
{
	return intern_add(in, text, strlen(text) + 1);
}
