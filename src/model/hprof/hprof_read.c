#include <inttypes.h>
#include <string.h>

#include "base/xalloc.h"
#include "model/hprof/hprof_internal.h"

#define RECORD_HEAD 9             /* u1 tag, u4 time, u4 length */
#define RECORD_MAX (64 << 20)     /* maximum length in bytes of a record outside of segments */
#define CARRY_STEP 256            /* bytes to copy at a time; most records are shorter */

enum {
	TAG_HEAP_DUMP = 0x0c,
	/*
	 * The records with the tags 1 to TAG_CONTROL_SETTINGS, except HEAP_DUMP, are parsed only
	 * when the complete record has arrived.
	 */
	TAG_CONTROL_SETTINGS = 0x0e,
	TAG_HEAP_DUMP_SEGMENT = 0x1c,
	TAG_HEAP_DUMP_END = 0x2c,
};

struct hprof_reader *hprof_reader_new(struct heap *heap, const struct hprof_wants *wants)
{
	struct hprof_reader *r = xcalloc(1, sizeof(*r));

	r->heap = heap;
	r->wants = *wants;
	r->classes.class_class = GRAPH_NONE;
	for (unsigned i = 0; i < HPROF_TYPES; i++)
		r->classes.arrays[i] = GRAPH_NONE;
	if (wants->builder)
		hprof_output_open(&r->out);
	return r;
}

void hprof_reader_free(struct hprof_reader *r)
{
	if (!r)
		return;
	hprof_tables_release(&r->tables);
	hprof_classes_release(&r->classes);
	free(r->out.buf);
	free(r->sample.list);
	free(r->thread_objects);
	buf_release(&r->in.carry);
	free(r);
}

/*
 * Parses the header.  Accepts format 1.0.1 (without segments) and 1.0.2.  HotSpot does not write
 * 1.0.3.
 */
static ssize_t take_header(struct hprof_reader *r, const uint8_t *p, size_t len, struct err *err)
{
	static const char magic[] = "JAVA PROFILE 1.0.";
	const size_t head = sizeof(magic) + 1 + 4 + 8;
	size_t seen = len < sizeof(magic) - 1 ? len : sizeof(magic) - 1;

	if (memcmp(p, magic, seen) != 0)
		return err_set(err, EXIT_USAGE,
			       "not a heap dump: its first bytes are not 'JAVA PROFILE 1.0.'");
	if (len < head)
		return 0;
	if ((p[17] != '1' && p[17] != '2') || p[18] != 0)
		return err_set(err, EXIT_USAGE,
			       "unsupported version of the heap dump format: expected JAVA "
			       "PROFILE 1.0.1 or 1.0.2");
	r->id_size = (unsigned)hprof_get(p + 19, 4);
	if (r->id_size != 4 && r->id_size != 8)
		return hprof_invalid(r, err, "identifiers of %u bytes: expected 4 or 8",
				     r->id_size);
	r->in.state = AT_RECORD;
	return (ssize_t)head;
}

static ssize_t take_record(struct hprof_reader *r, const uint8_t *p, size_t len, struct err *err)
{
	struct hprof_input *in = &r->in;
	uint32_t body;
	unsigned tag;

	if (in->ended)
		return hprof_invalid(r, err, "data follows its end");
	if (len < RECORD_HEAD)
		return 0;
	tag = p[0];
	body = (uint32_t)hprof_get(p + 5, 4);
	if (tag == TAG_HEAP_DUMP || tag == TAG_HEAP_DUMP_SEGMENT) {
		in->segmented |= tag == TAG_HEAP_DUMP_SEGMENT;
		in->in_dump = true;
		in->segment = body;
		in->state = AT_SUBRECORD;
		return RECORD_HEAD;
	}
	if (tag == TAG_HEAP_DUMP_END) {
		in->ended = true;
		in->skip = body;
		return RECORD_HEAD;
	}
	if (tag == 0 || tag > TAG_CONTROL_SETTINGS)
		return hprof_invalid(r, err, "unknown record tag 0x%02x", tag);
	if (body > RECORD_MAX)
		return hprof_invalid(r, err, "a record of %" PRIu32 " bytes is too long", body);
	if (len < RECORD_HEAD + (size_t)body)
		return 0;
	if (hprof_take_record(r, tag, p + RECORD_HEAD, body, err) < 0)
		return -1;
	return (ssize_t)(RECORD_HEAD + body);
}

/* Parses a subrecord, which must end within its segment.  The result is as for parse_next(). */
static ssize_t take_subrecord(struct hprof_reader *r, const uint8_t *p, size_t len, struct err *err)
{
	const bool all = len >= r->in.segment;
	ssize_t n;

	if (all)
		len = (size_t)r->in.segment;
	n = hprof_take_sub(r, p[0], p + 1, len - 1, err);
	if (n < 0)
		return -1;
	if (n == 0 && all)
		return hprof_invalid(r, err, "a heap record is longer than its segment");
	return n == 0 ? 0 : n + 1;
}

/*
 * Parses the next unit at p: the header, a record, a subrecord or elements of an array.  Returns
 * the number of parsed bytes; or 0 if more bytes are needed; or -1 with err set.
 */
static ssize_t parse_next(struct hprof_reader *r, const uint8_t *p, size_t len, struct err *err)
{
	switch (r->in.state) {
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

/*
 * Advances the position by n parsed bytes.  Within a segment, also updates in->segment, the number
 * of bytes that are left in it: the n bytes, and in->skip array elements' bytes that the caller
 * skips next, are subtracted.  Returns 0; or -1 with err set if fewer bytes are left.
 */
static int advance(struct hprof_reader *r, size_t n, enum hprof_state before, struct err *err)
{
	struct hprof_input *in = &r->in;

	in->at += n;
	if (before == AT_SUBRECORD || before == AT_ELEMENTS) {
		if (in->skip > in->segment - n)
			return hprof_invalid(r, err, "an array is longer than its segment");
		in->segment -= n + in->skip;
	}
	if (in->state == AT_SUBRECORD && in->segment == 0)
		in->state = AT_RECORD;
	return 0;
}

static size_t skip_bytes(struct hprof_input *in, size_t len)
{
	size_t n = len < in->skip ? len : (size_t)in->skip;

	in->skip -= n;
	in->at += n;
	return n;
}

/* Parses as much as possible.  Returns the number of bytes parsed, or -1 with err set. */
static ssize_t parse_all(struct hprof_reader *r, const uint8_t *p, size_t len, struct err *err)
{
	size_t at = 0;

	while (at < len) {
		enum hprof_state before = r->in.state;
		ssize_t n;

		if (r->in.skip) {
			at += skip_bytes(&r->in, len - at);
			continue;
		}
		n = parse_next(r, p + at, len - at, err);
		if (n < 0 || (n > 0 && advance(r, (size_t)n, before, err) < 0))
			return -1;
		if (n == 0)
			break;
		at += (size_t)n;
	}
	return (ssize_t)at;
}

/*
 * Appends new bytes to the incomplete record in in->carry, and parses in->carry.  Each call at
 * least doubles in->carry if there are enough new bytes, so a long record is parsed only a few
 * times until it is complete.  Returns how many of the new bytes were parsed or copied, or -1 with
 * err set.
 */
static ssize_t take_carried(struct hprof_reader *r, const uint8_t *p, size_t len, struct err *err)
{
	struct buf *carry = &r->in.carry;
	size_t before = carry->len;
	size_t more = before > CARRY_STEP ? before : CARRY_STEP;
	ssize_t n;

	if (more > len)
		more = len;
	buf_add(carry, p, more);
	n = parse_all(r, (const uint8_t *)carry->data, carry->len, err);
	if (n < 0)
		return -1;
	if ((size_t)n >= before) {
		buf_reset(carry);
		return n - (ssize_t)before;
	}
	memmove(carry->data, carry->data + n, carry->len - (size_t)n);
	carry->len -= (size_t)n;
	return (ssize_t)more;
}

int hprof_feed(struct hprof_reader *r, const uint8_t *data, size_t len, struct err *err)
{
	ssize_t n;

	r->in.fed += len;
	while (r->in.carry.len && len) {
		n = take_carried(r, data, len, err);
		if (n < 0)
			return -1;
		data += n;
		len -= (size_t)n;
	}
	if (len == 0)
		return hprof_check_memory(r, err);
	n = parse_all(r, data, len, err);
	if (n < 0)
		return -1;
	buf_add(&r->in.carry, data + n, len - (size_t)n);
	return hprof_check_memory(r, err);
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
	const struct hprof_input *in = &r->in;

	if (in->state == AT_HEADER && in->fed == 0)
		return err_set(err, EXIT_USAGE, "not a heap dump: the input is empty");
	if (in->carry.len || in->skip || in->state != AT_RECORD || !in->in_dump ||
	    (in->segmented && !in->ended))
		return err_set(err, EXIT_PARTIAL,
			       "the dump is not complete: it is cut off at byte %" PRIu64
			       "; dump the heap again", in->fed);
	if (!r->classes.complete && hprof_write_classes(r, err) < 0)
		return -1;
	if (hprof_name_loaders(r, err) < 0)
		return -1;
	hprof_name_threads(r);
	return r->out.buf ? hprof_flush(r, err) : 0;
}

bool hprof_is_invalid(const struct hprof_reader *r)
{
	return r->invalid;
}

uint64_t hprof_bytes(const struct hprof_reader *r)
{
	return r->in.fed;
}

uint64_t hprof_objects(const struct hprof_reader *r)
{
	return r->objects;
}

struct hprof_count hprof_count(const struct hprof_reader *r, uint32_t class)
{
	return class < r->classes.n ? r->classes.list[class].count : (struct hprof_count){ 0 };
}

uint32_t hprof_class_class(const struct hprof_reader *r)
{
	return r->classes.class_class;
}
