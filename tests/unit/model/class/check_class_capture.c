/* A class from the agent: complete, truncated and misplaced frames; comparison with the file. */
#include <stdint.h>

#include "classfile/code.h"
#include "unit/support/data.h"
#include "model/class/class_capture.h"
#include "wire/frame.h"

#define FRAMES_MAX 64
#define CHUNK 300 /* bytes per BYTES frame; a class file takes several frames */

struct frame {
	uint16_t type;
	struct buf payload;
};

static struct frame frames[FRAMES_MAX];
static size_t n_frames;
static struct buf file;
static struct ag_mem mem = { .budget = SIZE_MAX };
static struct cf_class class;
static struct class_capture captured;

static void setup(void)
{
	read_data("classfile/Sample.class", &file);
	ck_assert_ptr_null(cf_open(&class, file.data, file.len, &mem));
}

static void release_frames(void)
{
	for (size_t i = 0; i < n_frames; i++)
		buf_release(&frames[i].payload);
	n_frames = 0;
}

static void teardown(void)
{
	class_capture_release(&captured);
	release_frames();
	cf_release(&class);
	buf_release(&file);
	ck_assert_uint_eq(mem.blocks, 0);
}

static struct buf *add_frame(uint16_t type)
{
	ck_assert_uint_lt(n_frames, FRAMES_MAX);
	frames[n_frames] = (struct frame){ type, BUF_INIT };
	return &frames[n_frames++].payload;
}

static void add_u32(struct buf *b, uint32_t value)
{
	const uint8_t bytes[] = { (uint8_t)(value >> 24), (uint8_t)(value >> 16),
				  (uint8_t)(value >> 8), (uint8_t)value };

	buf_add(b, bytes, sizeof(bytes));
}

static void add_text(struct buf *b, const void *text, size_t len)
{
	add_u32(b, (uint32_t)len);
	buf_add(b, text, len);
}

static void add_bytes(const void *bytes, size_t len)
{
	const char *at = bytes;

	for (size_t n; len > 0; at += n, len -= n) {
		n = len < CHUNK ? len : CHUNK;
		add_text(add_frame(WIRE_BYTES), at, n);
	}
}

static void add_captured(uint32_t number, uint32_t outcome, size_t len)
{
	struct buf *b = add_frame(WIRE_CAPTURED);

	add_u32(b, number);
	add_u32(b, outcome);
	add_u32(b, outcome == WIRE_CAPTURED_ERROR ? 62 : 0);
	add_u32(b, (uint32_t)len);
}

static void add_file(uint32_t number)
{
	add_captured(number, WIRE_CAPTURED_FILE, file.len);
	add_bytes(file.data, file.len);
}

/* Adds the constant pool of the file: JVMTI returns these bytes if the pool has not changed. */
static void add_memory(uint32_t number)
{
	const char *at = file.data + 10;
	struct buf *b = add_frame(WIRE_MEMORY);
	struct cf_pool pool;
	size_t len = file.len - 10;

	ck_assert_ptr_null(cf_pool_open(&pool, at, &len, class.pool.count, &mem));
	cf_pool_release(&pool);
	add_u32(b, number);
	add_u32(b, class.pool.count);
	add_u32(b, (uint32_t)len);
	add_bytes(at, len);
}

static void add_method_head(uint32_t modifiers, const char *name, const char *descriptor,
			    size_t len)
{
	struct buf *b = add_frame(WIRE_MEMORY_METHOD);

	add_u32(b, modifiers);
	add_text(b, name, strlen(name));
	add_text(b, descriptor, strlen(descriptor));
	add_u32(b, (uint32_t)len);
}

/* Adds a method with its code from the file, but clears byte `change` of the code; -1: no byte. */
static void add_method(const struct cf_member *m, int change)
{
	_cleanup_free_ char *name = xstrndup(m->name.data, m->name.len);
	_cleanup_free_ char *descriptor = xstrndup(m->descriptor.data, m->descriptor.len);
	_cleanup_buf_ struct buf copy = BUF_INIT;
	struct cf_code code;

	ck_assert(cf_code(m, &code));
	buf_add(&copy, code.code, code.len);
	if (change >= 0)
		copy.data[change] = 0;
	add_method_head(m->access, name, descriptor, code.len);
	add_bytes(copy.data, copy.len);
}

/*
 * Adds all methods that have code and returns their number.  Clears the first byte of the code of
 * the nth of them, counted from 0; SIZE_MAX: of none.
 */
static size_t add_methods(size_t nth)
{
	struct cf_members list = cf_methods(&class);
	struct cf_member m;
	struct cf_code code;
	size_t n = 0;

	while (cf_next_member(&list, &m)) {
		if (cf_code(&m, &code))
			add_method(&m, n++ == nth ? 0 : -1);
	}
	return n;
}

static int take(size_t i, size_t len)
{
	return class_capture_take(&captured, frames[i].type,
				  wire_reader_init(frames[i].payload.data, len));
}

/* Takes all frames and then the frame that ends the capture. */
static void take_all(void)
{
	for (size_t i = 0; i < n_frames; i++)
		ck_assert_int_eq(take(i, frames[i].payload.len), 0);
	add_u32(add_frame(WIRE_CAPTURE_END), 1);
	ck_assert_int_eq(take(n_frames - 1, 4), 1);
}

START_TEST(class_file_is_assembled_from_its_frames)
{
	add_file(7);
	take_all();
	ck_assert_uint_eq(captured.number, 7);
	ck_assert_uint_eq(captured.outcome, WIRE_CAPTURED_FILE);
	ck_assert_uint_eq(captured.file.len, file.len);
	ck_assert_mem_eq(captured.file.data, file.data, file.len);
	ck_assert(!captured.memory);
	ck_assert_uint_eq(class_capture_differences(&captured, NULL), 0);
}
END_TEST

START_TEST(outcome_without_a_file_is_stored)
{
	add_captured(3, (uint32_t)_i, 0);
	take_all();
	ck_assert_uint_eq(captured.outcome, (uint32_t)_i);
	ck_assert_int_eq(captured.code, _i == WIRE_CAPTURED_ERROR ? 62 : 0);
	ck_assert_uint_eq(class_capture_differences(&captured, NULL), 0);
}
END_TEST

START_TEST(next_class_ends_the_capture)
{
	add_file(1);
	add_file(2);
	for (size_t i = 0; i < n_frames / 2; i++)
		ck_assert_int_eq(take(i, frames[i].payload.len), 0);
	ck_assert_int_eq(take(n_frames / 2, frames[n_frames / 2].payload.len), 1);
	ck_assert_uint_eq(captured.number, 1);
}
END_TEST

START_TEST(equal_code_has_no_differences)
{
	size_t n;

	add_file(1);
	add_memory(1);
	n = add_methods(SIZE_MAX);
	take_all();
	ck_assert_uint_gt(n, 2);
	ck_assert_uint_eq(captured.n_methods, n);
	ck_assert_uint_eq(class_capture_differences(&captured, NULL), 0);
}
END_TEST

START_TEST(changed_method_is_found)
{
	const struct captured_method *first = NULL;

	add_file(1);
	add_memory(1);
	ck_assert_uint_gt(add_methods(1), 2);
	take_all();
	ck_assert_uint_eq(class_capture_differences(&captured, &first), 1);
	ck_assert_ptr_eq(first, &captured.methods[1]);
}
END_TEST

START_TEST(method_missing_in_the_file_is_a_difference)
{
	add_file(1);
	add_memory(1);
	add_method_head(CF_ACC_PRIVATE, "extra", "()V", 1);
	add_bytes("\xb1", 1);
	take_all();
	ck_assert_uint_eq(class_capture_differences(&captured, NULL), 1);
}
END_TEST

START_TEST(code_without_a_class_file_has_no_differences)
{
	add_captured(1, WIRE_CAPTURED_HIDDEN, 0);
	add_memory(1);
	(void)add_methods(1);
	take_all();
	ck_assert(captured.memory);
	ck_assert_uint_eq(captured.pool_count, class.pool.count);
	ck_assert_uint_eq(class_capture_differences(&captured, NULL), 0);
}
END_TEST

START_TEST(all_methods_differ_from_an_unreadable_file)
{
	file.data[0]++;
	add_file(1);
	file.data[0]--;
	add_memory(1);
	ck_assert_uint_gt(add_methods(SIZE_MAX), 2);
	take_all();
	ck_assert_uint_eq(class_capture_differences(&captured, NULL), captured.n_methods);
}
END_TEST

START_TEST(all_methods_differ_if_the_constant_pool_is_broken)
{
	struct buf *b;

	add_file(1);
	b = add_frame(WIRE_MEMORY);
	add_u32(b, 1);
	add_u32(b, 500);
	add_u32(b, 2);
	add_bytes("\1\1", 2);
	(void)add_methods(SIZE_MAX);
	take_all();
	ck_assert_uint_eq(class_capture_differences(&captured, NULL), captured.n_methods);
}
END_TEST

/* The data of the frames before the truncated one is released. */
START_TEST(frames_cut_at_every_byte_are_rejected)
{
	add_file(1);
	add_memory(1);
	(void)add_methods(SIZE_MAX);
	for (size_t i = 0; i < n_frames; i++) {
		for (size_t len = 0; len < frames[i].payload.len; len++) {
			for (size_t before = 0; before < i; before++)
				ck_assert_int_eq(take(before, frames[before].payload.len), 0);
			ck_assert_int_eq(take(i, len), -EBADMSG);
			class_capture_release(&captured);
		}
	}
}
END_TEST

/* If any one frame is missing, bytes are missing, in excess or unannounced. */
START_TEST(every_missing_frame_is_detected)
{
	size_t n;

	add_file(1);
	add_memory(1);
	(void)add_methods(SIZE_MAX);
	n = n_frames;
	add_u32(add_frame(WIRE_CAPTURE_END), 1);
	for (size_t missing = 0; missing < n; missing++) {
		int rc = 0;

		for (size_t i = 0; i < n_frames && rc == 0; i++)
			rc = i == missing ? 0 : take(i, frames[i].payload.len);
		ck_assert_int_eq(rc, -EBADMSG);
		class_capture_release(&captured);
	}
}
END_TEST

static void last_frame_is_rejected(void)
{
	for (size_t i = 0; i + 1 < n_frames; i++)
		ck_assert_int_eq(take(i, frames[i].payload.len), 0);
	ck_assert_int_eq(take(n_frames - 1, frames[n_frames - 1].payload.len), -EBADMSG);
	class_capture_release(&captured);
	release_frames();
}

START_TEST(inconsistent_frames_are_rejected)
{
	struct buf *b;

	add_captured(1, WIRE_CAPTURED_SKIPPED + 1, 0); /* an unknown outcome */
	last_frame_is_rejected();
	add_captured(1, WIRE_CAPTURED_FILE, 0); /* an empty class file */
	last_frame_is_rejected();
	add_captured(1, WIRE_CAPTURED_ARRAY, 1); /* the class file of an array class */
	last_frame_is_rejected();
	add_captured(1, WIRE_CAPTURED_FILE, UINT32_MAX); /* larger than any class file */
	last_frame_is_rejected();
	add_captured(1, WIRE_CAPTURED_HIDDEN, 0);
	b = add_frame(WIRE_MEMORY);
	add_u32(b, 2); /* the number of another class */
	add_u32(b, 1);
	add_u32(b, 0);
	last_frame_is_rejected();
	add_captured(1, WIRE_CAPTURED_HIDDEN, 0);
	b = add_frame(WIRE_MEMORY);
	add_u32(b, 1);
	add_u32(b, UINT16_MAX + 1); /* more constants than a class can have */
	add_u32(b, 0);
	last_frame_is_rejected();
	add_captured(1, WIRE_CAPTURED_HIDDEN, 0);
	add_method_head(0, "m", "()V", 0); /* a method before the constant pool */
	last_frame_is_rejected();
	add_captured(1, WIRE_CAPTURED_HIDDEN, 0);
	add_text(add_frame(WIRE_BYTES), "x", 1); /* bytes that were not announced */
	last_frame_is_rejected();
	add_captured(1, WIRE_CAPTURED_FILE, 1);
	add_text(add_frame(WIRE_BYTES), "", 0); /* an empty frame makes no progress */
	last_frame_is_rejected();
	add_captured(1, WIRE_CAPTURED_HIDDEN, 0);
	(void)add_frame(WIRE_HISTO_END);
	last_frame_is_rejected();
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("model/class/class_capture");
	TCase *tc = tcase_create("model/class/class_capture");
	SRunner *runner;
	int failed;

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, class_file_is_assembled_from_its_frames);
	tcase_add_loop_test(tc, outcome_without_a_file_is_stored, WIRE_CAPTURED_FILE + 1,
			    WIRE_CAPTURED_SKIPPED + 1);
	tcase_add_test(tc, next_class_ends_the_capture);
	tcase_add_test(tc, equal_code_has_no_differences);
	tcase_add_test(tc, changed_method_is_found);
	tcase_add_test(tc, method_missing_in_the_file_is_a_difference);
	tcase_add_test(tc, code_without_a_class_file_has_no_differences);
	tcase_add_test(tc, all_methods_differ_from_an_unreadable_file);
	tcase_add_test(tc, all_methods_differ_if_the_constant_pool_is_broken);
	tcase_add_test(tc, frames_cut_at_every_byte_are_rejected);
	tcase_add_test(tc, every_missing_frame_is_detected);
	tcase_add_test(tc, inconsistent_frames_are_rejected);
	suite_add_tcase(suite, tc);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}
