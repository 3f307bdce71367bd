#include "model/hprof/hprof_check.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const char magic[] = "JAVA PROFILE 1.0.2"; /* with the NUL, which is part of the header */

#define HEADER_BYTES (sizeof(magic) + 4 + 8)
#define RECORD_BYTES (1 + 4 + 4)
#define TAG_HEAP_DUMP_END 0x2c

_Static_assert(HPROF_READ == HEADER_BYTES && HPROF_READ >= RECORD_BYTES, "one read is enough");

struct hprof_features hprof_features_parse(const char *help)
{
	return (struct hprof_features){
		.gzip = strstr(help, "-gz"),
		.overwrite = strstr(help, "-overwrite"),
		.segments = strstr(help, "-parallel"),
	};
}

/* Returns the last line that is not empty, which has the reason of a failed dump. */
static const char *last_line(const char *text, size_t *len)
{
	const char *line = "";

	*len = 0;
	for (const char *at = text; *at; at += strspn(at, "\r\n")) {
		line = at;
		*len = strcspn(at, "\r\n");
		at += *len;
	}
	return line;
}

struct hprof_answer hprof_answer_parse(const char *text)
{
	const char *done = strstr(text, "Heap dump file created");
	const char *bytes = done ? strchr(done, '[') : NULL;
	struct hprof_answer answer = {
		.done = done,
		.incomplete = strstr(text, "Dump file is incomplete"),
		.bytes = bytes ? strtoll(bytes + 1, NULL, 10) : -1,
	};

	if (!answer.done)
		answer.reason = last_line(text, &answer.len);
	return answer;
}

static uint32_t get_u32(const uint8_t *p)
{
	return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

/*
 * Returns the length in bytes of the header or record that begins at `data`; or 0 if `len` is too
 * small to know the length; or -EBADMSG.
 */
static int64_t piece_len(struct hprof_walk *walk, const uint8_t *data, size_t len)
{
	if (walk->at == 0) {
		if (len < HEADER_BYTES)
			return 0;
		return memcmp(data, magic, sizeof(magic)) == 0 ? (int64_t)HEADER_BYTES : -EBADMSG;
	}
	if (len < RECORD_BYTES)
		return 0;
	/*
	 * No record has tag 0.  Without this check, the zeros of a hole in a file would be many
	 * valid records.
	 */
	if (data[0] == 0)
		return -EBADMSG;
	walk->ended = data[0] == TAG_HEAP_DUMP_END;
	return RECORD_BYTES + (int64_t)get_u32(data + 5);
}

int hprof_walk_step(struct hprof_walk *walk, const uint8_t *data, size_t len)
{
	const uint64_t from = walk->at, left = walk->size - from;
	const uint64_t to = from + (len < left ? len : left);

	while (walk->at < to) {
		int64_t n = -EBADMSG; /* if a record follows HEAP DUMP END */

		if (!walk->ended)
			n = piece_len(walk, data + (walk->at - from), (size_t)(to - walk->at));
		if (n == 0 && to < walk->size)
			return 1;
		if (n <= 0 || (uint64_t)n > walk->size - walk->at)
			return -EBADMSG;
		walk->at += (uint64_t)n;
	}
	if (walk->at < walk->size)
		return 1;
	return walk->ended ? 0 : -EBADMSG;
}

bool hprof_is_gzip(const uint8_t *data, size_t len)
{
	return len >= 2 && data[0] == 0x1f && data[1] == 0x8b;
}

static const uint8_t gzip_magic[] = { 0x1f, 0x8b };

/* Checks the header or record whose first bytes are in s->head. */
static int check_head(struct hprof_stream *s)
{
	if (s->gzip) {
		size_t n = s->n < sizeof(gzip_magic) ? s->n : sizeof(gzip_magic);

		return memcmp(s->head, gzip_magic, n) == 0 ? 0 : -EBADMSG;
	}
	if (!s->has_header) {
		size_t n = s->n < sizeof(magic) ? s->n : sizeof(magic);

		if (memcmp(s->head, magic, n) != 0)
			return -EBADMSG;
		if (s->n == HEADER_BYTES) {
			s->has_header = true;
			s->n = 0;
		}
		return 0;
	}
	if (s->head[0] == 0)
		return -EBADMSG;
	if (s->n == RECORD_BYTES) {
		s->ended = s->head[0] == TAG_HEAP_DUMP_END;
		s->skip = get_u32(s->head + 5);
		s->n = 0;
	}
	return 0;
}

int hprof_stream_take(struct hprof_stream *s, const uint8_t *data, size_t len)
{
	while (len > 0) {
		size_t n = len;

		if (s->skip > 0) {
			n = s->skip < len ? (size_t)s->skip : len;
			s->skip -= n;
		} else if (s->ended) {
			return -EBADMSG; /* HEAP DUMP END must be the last record */
		} else if (!s->gzip || s->n < sizeof(gzip_magic)) {
			n = 1;
			s->head[s->n++] = *data;
			if (check_head(s) < 0)
				return -EBADMSG;
		}
		data += n;
		len -= n;
	}
	return 0;
}

bool hprof_stream_is_complete(const struct hprof_stream *s)
{
	return s->gzip || (s->ended && s->skip == 0);
}
