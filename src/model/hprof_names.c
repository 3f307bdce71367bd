#include "model/hprof_names.h"

#include "base/xalloc.h"

void hprof_names_release(struct hprof_names *n)
{
	for (size_t i = 0; i < n->n; i++)
		free(n->names[i].text);
	free(n->names);
	idmap_release(&n->threads);
	idmap_release(&n->strings);
	idmap_release(&n->arrays);
	*n = (struct hprof_names){ 0 };
}

void hprof_names_thread(struct hprof_names *n, uint64_t thread, uint64_t string)
{
	uint32_t number;

	if (idmap_get(&n->threads, thread) != IDMAP_NONE)
		return;
	number = idmap_add(&n->strings, string, (uint32_t)n->n);
	(void)idmap_add(&n->threads, thread, number);
	if (number < n->n)
		return;
	n->names = xgrow(n->names, n->n, &n->cap, sizeof(*n->names));
	n->names[n->n++] = (struct hprof_name){ 0 };
}

void hprof_names_string(struct hprof_names *n, uint64_t string, uint64_t array, bool utf16)
{
	uint32_t number = idmap_get(&n->strings, string);

	if (number == IDMAP_NONE || n->names[number].array)
		return;
	n->names[number].array = array;
	n->names[number].is_utf16 = utf16;
	(void)idmap_add(&n->arrays, array, number);
}

/* As UTF-8; a half of a pair stands for nothing. */
static void add_char(struct buf *text, uint32_t c)
{
	if (c < 0x80) {
		buf_addc(text, (char)c);
		return;
	}
	if (c < 0x800) {
		buf_addc(text, (char)(0xc0 | c >> 6));
	} else if (c < 0x10000) {
		buf_addc(text, (char)(0xe0 | c >> 12));
		buf_addc(text, (char)(0x80 | (c >> 6 & 0x3f)));
	} else {
		buf_addc(text, (char)(0xf0 | c >> 18));
		buf_addc(text, (char)(0x80 | (c >> 12 & 0x3f)));
		buf_addc(text, (char)(0x80 | (c >> 6 & 0x3f)));
	}
	buf_addc(text, (char)(0x80 | (c & 0x3f)));
}

static uint32_t unit(const uint8_t *p, bool big_endian)
{
	return big_endian ? (uint32_t)p[0] << 8 | p[1] : (uint32_t)p[1] << 8 | p[0];
}

static void add_utf16(struct buf *text, const uint8_t *data, size_t len, bool big_endian)
{
	for (size_t i = 0; i + 1 < len; i += 2) {
		uint32_t c = unit(data + i, big_endian), low;

		if (c >= 0xd800 && c < 0xdc00 && i + 3 < len) {
			low = unit(data + i + 2, big_endian);
			if (low >= 0xdc00 && low < 0xe000) {
				add_char(text, 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00));
				i += 2;
				continue;
			}
		}
		add_char(text, c >= 0xd800 && c < 0xe000 ? 0xfffd : c);
	}
}

void hprof_names_array(struct hprof_names *n, uint64_t array, const uint8_t *data, size_t len,
		       bool big_endian)
{
	uint32_t number = idmap_get(&n->arrays, array);
	struct buf text = BUF_INIT;

	if (number == IDMAP_NONE || n->names[number].text)
		return;
	if (big_endian || n->names[number].is_utf16) {
		add_utf16(&text, data, len, big_endian);
	} else {
		for (size_t i = 0; i < len; i++)
			add_char(&text, data[i]);
	}
	n->names[number].text = buf_take(&text);
}

const char *hprof_names_of(const struct hprof_names *n, uint64_t thread)
{
	uint32_t number = idmap_get(&n->threads, thread);

	/* Two Strings can share an array, and the second was told that it is the first's. */
	if (number == IDMAP_NONE)
		return NULL;
	number = idmap_get(&n->arrays, n->names[number].array);
	return number == IDMAP_NONE ? NULL : n->names[number].text;
}

bool hprof_names_lacking(const struct hprof_names *n)
{
	for (size_t i = 0; i < n->n; i++) {
		uint32_t number = idmap_get(&n->arrays, n->names[i].array);

		if (number == IDMAP_NONE || !n->names[number].text)
			return true;
	}
	return false;
}
