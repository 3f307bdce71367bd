/* The tape: what was written is read, and what is cut off or lies is not. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "wire/tape.h"

#define TEXT ((const uint8_t *)"caf\xe9")

/* Of every kind, with the extremes of each part. */
static const struct tape_record records[] = {
	{ .kind = TAPE_CLASS, .address = 0x7f0000000008, .class = UINT32_MAX },
	{ .kind = TAPE_CLASS, .address = 0x10, .class = 0 },
	{ .kind = TAPE_OBJECT, .address = 0x5c0000000, .class = 17 },
	{ .kind = TAPE_FIELD, .address = 0x5c0000000, .index = 3, .size = 16 },
	{ .kind = TAPE_FIELD, .address = 8, .index = UINT32_MAX, .size = 0 },
	{ .kind = TAPE_REFERENT, .address = 0x5c0000100, .index = TAPE_PHANTOM, .size = 504 },
	{ .kind = TAPE_SIZE, .address = 0x5c0000000, .size = UINT64_C(1) << 40 },
	{ .kind = TAPE_OBJECT, .address = 0x5bffffff8, .class = 1 },
	{ .kind = TAPE_ELEMENT, .address = 0x5c0000010, .index = 0, .size = 24, .is_array = true },
	{ .kind = TAPE_ELEMENT, .address = 0x5c0000010, .index = 1, .size = 24 },
	{ .kind = TAPE_ROOT, .address = 0x600000000, .root = TAPE_ROOT_STACK, .thread = UINT64_MAX,
	  .depth = 7, .method = 9, .size = 40, .length = UINT32_MAX, .is_array = true },
	{ .kind = TAPE_ELEMENT, .address = 0x5c0000020, .index = UINT32_MAX - 1, .size = 8 },
	{ .kind = TAPE_MIRROR, .address = TAPE_ADDRESS_MAX - 8 },
	{ .kind = TAPE_STATIC, .address = 0, .index = 1, .size = 8 },
	{ .kind = TAPE_LINK, .address = 0x5c0000020, .index = TAPE_CONSTANT, .size = 8 },
	{ .kind = TAPE_OWN, .address = 0x5c0000028 },
	{ .kind = TAPE_TEXT, .address = 0x5c0000030, .form = TAPE_BYTES, .text = TEXT,
	  .text_len = 4 },
	{ .kind = TAPE_TEXT, .address = 0x5c0000038, .form = TAPE_UTF16, .text = TEXT },
};
#define RECORDS (sizeof(records) / sizeof(records[0]))

static void same(const struct tape_record *a, const struct tape_record *b)
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

static size_t write_all(uint8_t *tape, size_t *ends)
{
	struct tape_place place = { 0 };
	uint8_t *at = tape;

	for (size_t i = 0; i < RECORDS; i++) {
		uint8_t *end = tape_write(&place, at, &records[i]);

		ck_assert_int_le(end - at, TAPE_RECORD_MAX + records[i].text_len);
		at = end;
		if (ends)
			ends[i] = (size_t)(at - tape);
	}
	return (size_t)(at - tape);
}

START_TEST(reads_what_was_written)
{
	uint8_t tape[RECORDS * TAPE_RECORD_MAX];
	const uint8_t *at = tape, *end = tape + write_all(tape, NULL);
	struct tape_place place = { 0 };

	for (size_t i = 0; i < RECORDS; i++) {
		struct tape_record r;

		at = tape_read(&place, at, end, &r);
		ck_assert_ptr_nonnull(at);
		same(&r, &records[i]);
	}
	ck_assert_ptr_eq(at, end);
}
END_TEST

START_TEST(cut_anywhere)
{
	uint8_t tape[RECORDS * TAPE_RECORD_MAX];
	size_t ends[RECORDS], len = write_all(tape, ends);

	for (size_t cut = 0; cut < len; cut++) {
		uint8_t *piece = malloc(cut + 1); /* its end is watched by ASan */
		const uint8_t *at = memcpy(piece, tape, cut);
		struct tape_place place = { 0 };
		struct tape_record r;
		size_t n = 0;

		while (at && at < piece + cut) {
			at = tape_read(&place, at, piece + cut, &r);
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

static bool refused(const void *bytes, size_t len)
{
	struct tape_place place = { 0 };
	struct tape_record r;

	return !tape_read(&place, bytes, (const uint8_t *)bytes + len, &r);
}

START_TEST(refuses_nonsense)
{
	/* a kind that is none; a distance backwards from 0; one that never ends */
	ck_assert(refused("\x0f\x00\x00", 3));
	ck_assert(refused("\x11\x00\x00", 3));
	ck_assert(refused("\x81\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x00\x00", 13));
	/* a class and an index of more than 32 bits; a root and a form that are none */
	ck_assert(refused("\x01\x80\x80\x80\x80\x10", 6));
	ck_assert(!refused("\x01\xff\xff\xff\xff\x0f", 6));
	ck_assert(refused("\x03\x80\x80\x80\x80\x10\x00", 7));
	ck_assert(refused("\x08\x07\x00\x00\x00\x00", 6));
	ck_assert(refused("\x0b\x02\x00", 3));
	/* a gap that leads beyond every array; a text longer than any */
	ck_assert(refused("\x05\xff\xff\xff\xff\x0f\x00", 7));
	ck_assert(refused("\x0b\x00\x81\x02", 4));
	ck_assert(refused("", 0));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("tape");
	TCase *tests = tcase_create("tape");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_add_test(tests, reads_what_was_written);
	tcase_add_test(tests, cut_anywhere);
	tcase_add_test(tests, refuses_nonsense);
	suite_add_tcase(suite, tests);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? 0 : 1;
}
