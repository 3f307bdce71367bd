#include "jvm/dump/hprof_put.h"

#include "util/hash.h"

enum ag_hprof_type ag_hprof_type_of(char signature)
{
	static const char signatures[] = "ZCFDBSIJ"; /* in the order of enum ag_hprof_type */
	const char *found = strchr(signatures, signature);

	if (signature == 'L' || signature == '[')
		return AG_HPROF_OBJECT;
	if (signature == '\0' || !found)
		return AG_HPROF_NONE;
	return (enum ag_hprof_type)(AG_HPROF_BOOLEAN + (found - signatures));
}

unsigned ag_hprof_size_of(enum ag_hprof_type type)
{
	static const uint8_t sizes[] = { 0, 0, 8, 0, 1, 2, 4, 8, 1, 2, 4, 8 };

	return sizes[type];
}

static void put_big(uint8_t *at, uint64_t value, unsigned bytes)
{
	while (bytes-- > 0)
		*at++ = (uint8_t)(value >> 8 * bytes);
}

void ag_hprof_end_piece(struct ag_hprof *h)
{
	if (!h->piece)
		return;
	(void)ag_chan_end(h->chan, WIRE_DUMP_DATA); /* an error breaks the channel for good */
	h->piece = NULL;
	if (h->progress)
		++*h->progress;
}

void ag_hprof_bytes(struct ag_hprof *h, const void *data, size_t len)
{
	while (len > 0 && !h->chan->broken && !h->off) {
		size_t n;

		if (!h->piece)
			h->piece = ag_chan_begin(h->chan);
		n = WIRE_PIECE - h->piece->len;
		if (n > len)
			n = len;
		memcpy(h->piece->data + h->piece->len, data, n);
		h->piece->len += n;
		data = (const char *)data + n;
		len -= n;
		if (h->piece->len == WIRE_PIECE)
			ag_hprof_end_piece(h);
	}
}

static void put_number(struct ag_hprof *h, uint64_t value, unsigned bytes)
{
	uint8_t big[8];

	put_big(big, value, bytes);
	ag_hprof_bytes(h, big, bytes);
}

void ag_hprof_header(struct ag_hprof *h, uint64_t now_ms)
{
	static const char magic[] = "JAVA PROFILE 1.0.2"; /* includes the NUL */

	ag_hprof_bytes(h, magic, sizeof(magic));
	put_number(h, AG_HPROF_ID, 4);
	put_number(h, now_ms, 8);
}

void ag_hprof_record(struct ag_hprof *h, enum ag_hprof_tag tag, uint32_t len)
{
	put_number(h, tag, 1);
	put_number(h, 0, 4); /* the time: 0, as the JVM writes it in its own dumps */
	put_number(h, len, 4);
}

void ag_hprof_record_u4(struct ag_hprof *h, uint32_t value)
{
	put_number(h, value, 4);
}

void ag_hprof_record_u8(struct ag_hprof *h, uint64_t value)
{
	put_number(h, value, 8);
}

void ag_hprof_end_segment(struct ag_hprof *h)
{
	if (h->len == 0)
		return;
	ag_hprof_record(h, AG_HPROF_SEGMENT, (uint32_t)h->len);
	ag_hprof_bytes(h, h->segment, h->len);
	h->len = 0;
}

void ag_hprof_sub(struct ag_hprof *h, enum ag_hprof_sub_tag tag, size_t size)
{
	h->direct = size > AG_HPROF_SEGMENT_MAX;
	if (h->len + size > AG_HPROF_SEGMENT_MAX)
		ag_hprof_end_segment(h);
	if (h->direct)
		ag_hprof_record(h, AG_HPROF_SEGMENT, (uint32_t)size);
	ag_hprof_u1(h, tag);
}

void ag_hprof_put(struct ag_hprof *h, const void *data, size_t len)
{
	if (h->direct) {
		ag_hprof_bytes(h, data, len);
		return;
	}
	memcpy(h->segment + h->len, data, len);
	h->len += len;
}

static void put_sub_number(struct ag_hprof *h, uint64_t value, unsigned bytes)
{
	uint8_t big[8];

	put_big(big, value, bytes);
	ag_hprof_put(h, big, bytes);
}

void ag_hprof_u1(struct ag_hprof *h, unsigned value)
{
	put_sub_number(h, value, 1);
}

void ag_hprof_u2(struct ag_hprof *h, unsigned value)
{
	put_sub_number(h, value, 2);
}

void ag_hprof_u4(struct ag_hprof *h, uint32_t value)
{
	put_sub_number(h, value, 4);
}

void ag_hprof_u8(struct ag_hprof *h, uint64_t value)
{
	put_sub_number(h, value, 8);
}

uint32_t ag_hprof_symbol(struct ag_hprof *h, struct ag_hash_map *symbols, const char *text,
			 size_t len)
{
	uint64_t key = ag_hash(text, len) | 1; /* 0 is not a valid key */
	const struct ag_hash_entry *known = ag_hash_map_probe(symbols, key);

	if (known->key != 0)
		return known->number;
	if (symbols->n == symbols->max &&
	    ag_hash_map_grow(symbols, h->chan->mem, INT32_MAX) != 0)
		return 0;
	known = ag_hash_map_add(symbols, key, symbols->n + 1);
	ag_hprof_record(h, AG_HPROF_UTF8, (uint32_t)(AG_HPROF_ID + len));
	put_number(h, known->number, AG_HPROF_ID);
	ag_hprof_bytes(h, text, len);
	return known->number;
}
