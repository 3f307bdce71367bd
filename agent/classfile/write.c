#include "classfile/write.h"

#include <string.h>

#define MIN_CAPACITY 1024

void cf_output_release(struct cf_output *out)
{
	ag_free(out->mem, out->data);
	*out = (struct cf_output){ .mem = out->mem };
}

/*
 * Makes room for len more bytes.  Copies the data to new memory, because struct ag_mem has no
 * realloc.
 */
static bool make_room(struct cf_output *out, size_t len)
{
	size_t cap = out->cap ? out->cap : MIN_CAPACITY;
	uint8_t *data;

	if (len <= out->cap - out->len)
		return true;
	while (cap - out->len < len) {
		if (cap > SIZE_MAX / 2)
			return false;
		cap *= 2;
	}
	data = ag_alloc(out->mem, cap, 1);
	if (!data)
		return false;
	if (out->len > 0)
		memcpy(data, out->data, out->len);
	ag_free(out->mem, out->data);
	out->data = data;
	out->cap = cap;
	return true;
}

void cf_put(struct cf_output *out, const void *data, size_t len)
{
	if (out->failed || len == 0)
		return;
	if (!make_room(out, len)) {
		out->failed = true;
		return;
	}
	memcpy(out->data + out->len, data, len);
	out->len += len;
}

void cf_put_u1(struct cf_output *out, uint8_t value)
{
	cf_put(out, &value, 1);
}

void cf_put_u2(struct cf_output *out, uint16_t value)
{
	uint8_t bytes[] = { (uint8_t)(value >> 8), (uint8_t)value };

	cf_put(out, bytes, sizeof(bytes));
}

void cf_put_u4(struct cf_output *out, uint32_t value)
{
	cf_put_u2(out, (uint16_t)(value >> 16));
	cf_put_u2(out, (uint16_t)value);
}

void cf_set_u1(struct cf_output *out, size_t at, uint8_t value)
{
	if (at < out->len)
		out->data[at] = value;
}

void cf_set_u2(struct cf_output *out, size_t at, uint16_t value)
{
	cf_set_u1(out, at, (uint8_t)(value >> 8));
	cf_set_u1(out, at + 1, (uint8_t)value);
}

void cf_set_u4(struct cf_output *out, size_t at, uint32_t value)
{
	cf_set_u2(out, at, (uint16_t)(value >> 16));
	cf_set_u2(out, at + 2, (uint16_t)value);
}
