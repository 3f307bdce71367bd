#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/xalloc.h"
#include "model/hprof_parts.h"

#define RECORD_HEAD 9             /* u1 tag, u4 time, u4 length */
#define RECORD_MAX (64 << 20)     /* a stack of half a million frames */
#define TAPE_BYTES (256 * 1024)
#define TAPE_ROOM (TAPE_RECORD_MAX + TAPE_TEXT_MAX)
#define CARRY_STEP 256 /* bytes that complete most records */

enum {
	TAG_HEAP_DUMP = 0x0c,
	TAG_CONTROL_SETTINGS = 0x0e, /* the last of those that are taken whole */
	TAG_HEAP_DUMP_SEGMENT = 0x1c,
	TAG_HEAP_DUMP_END = 0x2c,
};

uint64_t hprof_get(const uint8_t *p, unsigned bytes)
{
	uint64_t value = 0;

	if (bytes == 8) { /* one load and a swap */
		memcpy(&value, p, 8);
		return __builtin_bswap64(value);
	}
	for (unsigned i = 0; i < bytes; i++)
		value = value << 8 | p[i];
	return value;
}

int hprof_senseless(const struct hprof_reader *r, struct err *err, const char *fmt, ...)
{
	char why[256];
	va_list args;

	va_start(args, fmt);
	(void)vsnprintf(why, sizeof(why), fmt, args); /* cut off is good enough */
	va_end(args);
	return err_set(err, EXIT_PARTIAL, "the dump makes no sense at byte %" PRIu64 ": %s",
		       r->at, why);
}

unsigned hprof_type_size(const struct hprof_reader *r, unsigned type)
{
	static const uint8_t sizes[HPROF_TYPES] = {
		[HPROF_BOOLEAN] = 1, [HPROF_CHAR] = 2, [HPROF_FLOAT] = 4, [HPROF_DOUBLE] = 8,
		[HPROF_BYTE] = 1, [HPROF_SHORT] = 2, [HPROF_INT] = 4, [HPROF_LONG] = 8,
	};

	if (type == HPROF_OBJECT)
		return r->id_size;
	return type < HPROF_TYPES ? sizes[type] : 0;
}

struct hprof_reader *hprof_reader_new(struct heap *heap, const struct hprof_wants *wants)
{
	struct hprof_reader *r = xcalloc(1, sizeof(*r));

	r->heap = heap;
	r->wants = *wants;
	r->class_class = GRAPH_NONE;
	for (unsigned i = 0; i < HPROF_TYPES; i++)
		r->arrays[i] = GRAPH_NONE;
	if (wants->builder)
		r->tape = xmalloc(TAPE_BYTES);
	return r;
}

static void release_maps(struct hprof_reader *r)
{
	struct idmap *maps[] = { &r->symbol_ids, &r->class_ids, &r->class_serials,
				 &r->frame_ids, &r->thread_traces, &r->methods,
				 &r->loader_classes };

	for (size_t i = 0; i < ARRAY_SIZE(maps); i++)
		idmap_release(maps[i]);
}

void hprof_reader_free(struct hprof_reader *r)
{
	if (!r)
		return;
	release_maps(r);
	for (size_t i = 0; i < r->n_classes; i++) {
		free(r->classes[i].fields);
		free(r->classes[i].statics);
		free(r->classes[i].refs);
	}
	for (size_t i = 0; i < r->n_traces; i++)
		free(r->traces[i].frames);
	free(r->classes);
	free(r->symbols);
	free(r->frames);
	free(r->traces);
	free(r->tape);
	free(r->seen);
	free(r->thread_objects);
	buf_release(&r->texts);
	buf_release(&r->carry);
	free(r);
}

static int flush(struct hprof_reader *r, struct err *err)
{
	int rc;

	if (r->tape_len == 0)
		return 0;
	rc = graph_builder_take(r->wants.builder, r->tape, r->tape_len);
	r->tape_len = 0;
	if (rc == -EFBIG)
		return err_set(err, EXIT_PARTIAL,
			       "the graph of this heap takes more memory than jtool may use: "
			       "--max-memory sets how much");
	if (rc < 0)
		return hprof_senseless(r, err, "its objects contradict each other");
	return 0;
}

int hprof_write(struct hprof_reader *r, const struct tape_record *record, struct err *err)
{
	if (!r->tape)
		return 0;
	if (record->address % TAPE_WORD || record->address >= TAPE_ADDRESS_MAX)
		return hprof_senseless(r, err, "0x%" PRIx64 " is no address of an object",
				       record->address);
	if (r->tape_len > TAPE_BYTES - TAPE_ROOM && flush(r, err) < 0)
		return -1;
	r->tape_len = (size_t)(tape_write(&r->place, r->tape + r->tape_len, record) - r->tape);
	return 0;
}

/* "JAVA PROFILE 1.0.2": 1.0.1 has no segments, 1.0.3 is another VM's. */
static ssize_t take_header(struct hprof_reader *r, const uint8_t *p, size_t len, struct err *err)
{
	static const char magic[] = "JAVA PROFILE 1.0.";
	const size_t head = sizeof(magic) + 1 + 4 + 8;
	size_t seen = len < sizeof(magic) - 1 ? len : sizeof(magic) - 1;

	if (memcmp(p, magic, seen) != 0)
		return err_set(err, EXIT_PARTIAL,
			       "it is no heap dump: it does not begin with JAVA PROFILE");
	if (len < head)
		return 0;
	if ((p[17] != '1' && p[17] != '2') || p[18] != 0)
		return err_set(err, EXIT_PARTIAL,
			       "it is a heap dump of a kind that HotSpot does not write");
	r->id_size = (unsigned)hprof_get(p + 19, 4);
	if (r->id_size != 4 && r->id_size != 8)
		return hprof_senseless(r, err, "identifiers of %u bytes", r->id_size);
	r->state = AT_RECORD;
	return (ssize_t)head;
}

static ssize_t take_record(struct hprof_reader *r, const uint8_t *p, size_t len, struct err *err)
{
	uint32_t body;
	unsigned tag;

	if (r->ended)
		return hprof_senseless(r, err, "there is more behind its end");
	if (len < RECORD_HEAD)
		return 0;
	tag = p[0];
	body = (uint32_t)hprof_get(p + 5, 4);
	if (tag == TAG_HEAP_DUMP || tag == TAG_HEAP_DUMP_SEGMENT) {
		r->segmented |= tag == TAG_HEAP_DUMP_SEGMENT;
		r->in_dump = true;
		r->segment = body;
		r->state = AT_SUBRECORD;
		return RECORD_HEAD;
	}
	if (tag == TAG_HEAP_DUMP_END) {
		r->ended = true;
		r->skip = body;
		return RECORD_HEAD;
	}
	if (tag == 0 || tag > TAG_CONTROL_SETTINGS)
		return hprof_senseless(r, err, "no record has the tag 0x%02x", tag);
	if (body > RECORD_MAX)
		return hprof_senseless(r, err, "a record of %" PRIu32 " bytes", body);
	if (len < RECORD_HEAD + (size_t)body)
		return 0;
	if (hprof_take_record(r, tag, p + RECORD_HEAD, body, err) < 0)
		return -1;
	return (ssize_t)(RECORD_HEAD + body);
}

/* Its tag and all that belongs to it lie within the segment. */
static ssize_t take_subrecord(struct hprof_reader *r, const uint8_t *p, size_t len,
			      struct err *err)
{
	const bool all = len >= r->segment;
	ssize_t n;

	if (all)
		len = (size_t)r->segment;
	n = hprof_take_sub(r, p[0], p + 1, len - 1, err);
	if (n < 0)
		return -1;
	if (n == 0 && all)
		return hprof_senseless(r, err, "what begins here is longer than its segment");
	return n == 0 ? 0 : n + 1;
}

/* What begins at p: bytes that were understood; 0: it takes more of them. */
static ssize_t step(struct hprof_reader *r, const uint8_t *p, size_t len, struct err *err)
{
	switch (r->state) {
	case AT_HEADER:
		return take_header(r, p, len, err);
	case AT_SUBRECORD:
		return take_subrecord(r, p, len, err);
	case AT_ELEMENTS:
		return hprof_take_elements(r, p, len, err);
	default:
		return take_record(r, p, len, err);
	}
}

/* Records end with the segment that they stand in, and arrays are passed over in it. */
static int advance(struct hprof_reader *r, size_t n, enum hprof_state before, struct err *err)
{
	r->at += n;
	if (before == AT_SUBRECORD || before == AT_ELEMENTS) {
		if (r->skip > r->segment - n)
			return hprof_senseless(r, err, "an array that is longer than its segment");
		r->segment -= n + r->skip;
	}
	if (r->state == AT_SUBRECORD && r->segment == 0)
		r->state = AT_RECORD;
	return 0;
}

static size_t pass_over(struct hprof_reader *r, size_t len)
{
	size_t n = len < r->skip ? len : (size_t)r->skip;

	r->skip -= n;
	r->at += n;
	return n;
}

/* As much as can be understood: how much that was. */
static ssize_t take_all(struct hprof_reader *r, const uint8_t *p, size_t len, struct err *err)
{
	size_t at = 0;

	while (at < len) {
		enum hprof_state before = r->state;
		ssize_t n;

		if (r->skip) {
			at += pass_over(r, len - at);
			continue;
		}
		n = step(r, p + at, len - at, err);
		if (n < 0 || (n > 0 && advance(r, (size_t)n, before, err) < 0))
			return -1;
		if (n == 0)
			break;
		at += (size_t)n;
	}
	return (ssize_t)at;
}

/*
 * Complete what was left over, with little more than it needs: doubled each time, so that
 * nothing is copied often.  Returns how much of the new piece is done with, or was kept.
 */
static ssize_t take_carried(struct hprof_reader *r, const uint8_t *p, size_t len, struct err *err)
{
	size_t before = r->carry.len;
	size_t more = before > CARRY_STEP ? before : CARRY_STEP;
	ssize_t n;

	if (more > len)
		more = len;
	buf_add(&r->carry, p, more);
	n = take_all(r, (const uint8_t *)r->carry.data, r->carry.len, err);
	if (n < 0)
		return -1;
	if ((size_t)n >= before) {
		buf_reset(&r->carry);
		return n - (ssize_t)before;
	}
	memmove(r->carry.data, r->carry.data + n, r->carry.len - (size_t)n);
	r->carry.len -= (size_t)n;
	return (ssize_t)more;
}

int hprof_feed(struct hprof_reader *r, const uint8_t *data, size_t len, struct err *err)
{
	ssize_t n;

	r->fed += len;
	while (r->carry.len && len) {
		n = take_carried(r, data, len, err);
		if (n < 0)
			return -1;
		data += n;
		len -= (size_t)n;
	}
	if (len == 0)
		return 0;
	n = take_all(r, data, len, err);
	if (n < 0)
		return -1;
	buf_add(&r->carry, data + n, len - (size_t)n);
	return 0;
}

void hprof_name_threads(struct hprof_reader *r)
{
	if (!r->wants.names)
		return;
	for (size_t i = 0; i < r->heap->n_threads; i++) {
		struct heap_thread *t = &r->heap->threads[i];
		const char *name = hprof_names_of(r->wants.names, r->thread_objects[i]);

		if (name && !t->name)
			t->name = xstrdup(name);
	}
}

int hprof_end(struct hprof_reader *r, struct err *err)
{
	if (r->state == AT_HEADER && r->fed == 0)
		return err_set(err, EXIT_PARTIAL, "it is no heap dump: it is empty");
	if (r->carry.len || r->skip || r->state != AT_RECORD || !r->in_dump ||
	    (r->segmented && !r->ended))
		return err_set(err, EXIT_PARTIAL,
			       "the dump is not whole: it is cut off at byte %" PRIu64, r->fed);
	if (!r->met && hprof_meet(r, err) < 0)
		return -1;
	hprof_name_loaders(r);
	hprof_name_threads(r);
	return r->tape ? flush(r, err) : 0;
}

uint64_t hprof_bytes(const struct hprof_reader *r)
{
	return r->fed;
}

uint64_t hprof_objects(const struct hprof_reader *r)
{
	return r->objects;
}

struct hprof_count hprof_count(const struct hprof_reader *r, uint32_t class)
{
	return class < r->n_classes ? r->classes[class].count : (struct hprof_count){ 0 };
}

uint32_t hprof_class_class(const struct hprof_reader *r)
{
	return r->class_class;
}
