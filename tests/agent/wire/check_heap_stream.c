/* The heap stream: records are read back as written; truncated and malformed ones are refused. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "wire/heap_stream.h"

#define TEXT ((const uint8_t *)"caf\xe9")

/* Records of every kind, with extreme values in each field. */
static const struct heap_stream_record records[] = {
	{ .kind = HEAP_STREAM_CLASS, .address = 0x7f0000000008, .class = UINT32_MAX },
	{ .kind = HEAP_STREAM_CLASS, .address = 0x10, .class = 0 },
	{ .kind = HEAP_STREAM_OBJECT, .address = 0x5c0000000, .class = 17 },
	{ .kind = HEAP_STREAM_FIELD, .address = 0x5c0000000, .index = 3, .size = 16 },
	{ .kind = HEAP_STREAM_FIELD, .address = 8, .index = UINT32_MAX, .size = 0 },
	{ .kind = HEAP_STREAM_REFERENT,
	  .address = 0x5c0000100,
	  .index = HEAP_STREAM_PHANTOM,
	  .size = 504 },
	{ .kind = HEAP_STREAM_SIZE, .address = 0x5c0000000, .size = UINT64_C(1) << 40 },
	{ .kind = HEAP_STREAM_OBJECT, .address = 0x5bffffff8, .class = 1 },
	{ .kind = HEAP_STREAM_ELEMENT,
	  .address = 0x5c0000010,
	  .index = 0,
	  .size = 24,
	  .is_array = true },
	{ .kind = HEAP_STREAM_ELEMENT, .address = 0x5c0000010, .index = 1, .size = 24 },
	{ .kind = HEAP_STREAM_ROOT,
	  .address = 0x600000000,
	  .root = HEAP_STREAM_ROOT_STACK,
	  .thread = UINT64_MAX,
	  .depth = 7,
	  .method = 9,
	  .size = 40,
	  .length = UINT32_MAX,
	  .is_array = true },
	{ .kind = HEAP_STREAM_ELEMENT, .address = 0x5c0000020, .index = UINT32_MAX - 1, .size = 8 },
	{ .kind = HEAP_STREAM_MIRROR, .address = HEAP_STREAM_ADDRESS_MAX - 8 },
	{ .kind = HEAP_STREAM_STATIC, .address = 0, .index = 1, .size = 8 },
	{ .kind = HEAP_STREAM_LINK,
	  .address = 0x5c0000020,
	  .index = HEAP_STREAM_CONSTANT,
	  .size = 8 },
	{ .kind = HEAP_STREAM_OWN, .address = 0x5c0000028 },
	{ .kind = HEAP_STREAM_TEXT,
	  .address = 0x5c0000030,
	  .form = HEAP_STREAM_BYTES,
	  .text = TEXT,
	  .text_len = 4 },
	{ .kind = HEAP_STREAM_TEXT,
	  .address = 0x5c0000038,
	  .form = HEAP_STREAM_UTF16,
	  .text = TEXT },
};
#define RECORDS (sizeof(records) / sizeof(records[0]))

static void assert_same(const struct heap_stream_record *a, const struct heap_stream_record *b)
{
	ck_assert_uint_eq(a->kind, b->kind);
	ck_assert_uint_eq(a->address, b->address);
	ck_assert_uint_eq(a->class, b->class);
	ck_assert_uint_eq(a->index, b->index);
	ck_assert_uint_eq(a->size, b->size);
	ck_assert_uint_eq(a->is_array, b->is_array);
	ck_assert_uint_eq(a->length, b->length);
	ck_assert_uint_eq(a->root, b->root);
	ck_assert_uint_eq(a->thread, b->thread);
	ck_assert_uint_eq(a->depth, b->depth);
	ck_assert_uint_eq(a->method, b->method);
	ck_assert_uint_eq(a->form, b->form);
	ck_assert_uint_eq(a->text_len, b->text_len);
	if (a->text_len > 0)
		ck_assert_mem_eq(a->text, b->text, a->text_len);
}

static size_t write_all(uint8_t *stream, size_t *ends)
{
	struct heap_stream_state state = { 0 };
	uint8_t *at = stream;

	for (size_t i = 0; i < RECORDS; i++) {
		uint8_t *end = heap_stream_write(&state, at, &records[i]);

		ck_assert_int_le(end - at, HEAP_STREAM_RECORD_MAX + records[i].text_len);
		at = end;
		if (ends)
			ends[i] = (size_t)(at - stream);
	}
	return (size_t)(at - stream);
}

START_TEST(written_records_are_read_back)
{
	uint8_t stream[RECORDS * HEAP_STREAM_RECORD_MAX];
	const uint8_t *at = stream, *end = stream + write_all(stream, NULL);
	struct heap_stream_state state = { 0 };

	for (size_t i = 0; i < RECORDS; i++) {
		struct heap_stream_record r;

		at = heap_stream_read(&state, at, end, &r);
		ck_assert_ptr_nonnull(at);
		assert_same(&r, &records[i]);
	}
	ck_assert_ptr_eq(at, end);
}
END_TEST

START_TEST(stream_cut_at_every_byte_yields_complete_records)
{
	uint8_t stream[RECORDS * HEAP_STREAM_RECORD_MAX];
	size_t ends[RECORDS], len = write_all(stream, ends);

	for (size_t cut = 0; cut < len; cut++) {
		uint8_t *piece = malloc(cut + 1); /* ASan detects a read past its end */
		const uint8_t *at = memcpy(piece, stream, cut);
		struct heap_stream_state state = { 0 };
		struct heap_stream_record r;
		size_t n = 0;

		while (at && at < piece + cut) {
			at = heap_stream_read(&state, at, piece + cut, &r);
			n += at != NULL;
		}
		ck_assert_uint_le(n, RECORDS);
		if (n > 0)
			ck_assert_uint_le(ends[n - 1], cut);
		ck_assert(ends[n] > cut);
		ck_assert_int_eq(at == NULL, n == 0 ? cut > 0 : ends[n - 1] != cut);
		free(piece);
	}
}
END_TEST

static bool is_refused(const void *bytes, size_t len)
{
	struct heap_stream_state state = { 0 };
	struct heap_stream_record r;

	return !heap_stream_read(&state, bytes, (const uint8_t *)bytes + len, &r);
}

START_TEST(malformed_records_are_refused)
{
	/* an unknown kind; a distance below address 0; a varint without end */
	ck_assert(is_refused("\x0f\x00\x00", 3));
	ck_assert(is_refused("\x11\x00\x00", 3));
	ck_assert(is_refused("\x81\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x00\x00", 13));
	/* a class and an index of more than 32 bits; an unknown root and form */
	ck_assert(is_refused("\x01\x80\x80\x80\x80\x10", 6));
	ck_assert(!is_refused("\x01\xff\xff\xff\xff\x0f", 6));
	ck_assert(is_refused("\x03\x80\x80\x80\x80\x10\x00", 7));
	ck_assert(is_refused("\x08\x07\x00\x00\x00\x00", 6));
	ck_assert(is_refused("\x0b\x02\x00", 3));
	/* an index beyond every array; a text longer than the limit */
	ck_assert(is_refused("\x05\xff\xff\xff\xff\x0f\x00", 7));
	ck_assert(is_refused("\x0b\x00\x81\x02", 4));
	ck_assert(is_refused("", 0));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("agent/wire/heap_stream");
	TCase *tests = tcase_create("agent/wire/heap_stream");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_add_test(tests, written_records_are_read_back);
	tcase_add_test(tests, stream_cut_at_every_byte_yields_complete_records);
	tcase_add_test(tests, malformed_records_are_refused);
	suite_add_tcase(suite, tests);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? 0 : 1;
}
