/* Blocks that were read ahead have the bytes of the file, in order, after the caller's tail. */
#include <check.h>
#include <sched.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/xalloc.h"
#include "cmd/jfr/read_ahead.h"
#include "fileio/io.h"
#define SIZE (40u * READ_AHEAD_BLOCK + 123)

static uint8_t *content;
static int fd;
static struct read_ahead *ra;

static void setup(void)
{
	content = xmalloc(SIZE);
	for (size_t i = 0; i < SIZE; i++)
		content[i] = (uint8_t)(i ^ i >> 8 ^ i >> 16);
	fd = memfd_create("file", MFD_CLOEXEC);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(io_write_all(fd, content, SIZE, DEADLINE_NEVER), 0);
	ra = read_ahead_new(fd);
}

static void teardown(void)
{
	read_ahead_free(ra);
	ck_assert_int_eq(close(fd), 0);
	free(content);
}

/* Returns whether there is a thread; if not, whether this is because of the one processor. */
static bool has_thread(void)
{
	cpu_set_t set;

	if (ra)
		return true;
	ck_assert_int_eq(sched_getaffinity(0, sizeof(set), &set), 0);
	ck_assert_int_eq(CPU_COUNT(&set), 1);
	return false;
}

/* Takes all blocks from `at` to `end`, each with the last tail_len bytes of the one before. */
static void take_all(uint64_t at, uint64_t end, size_t tail_len)
{
	const uint8_t *data = content, *tail = content;
	size_t len, n = 0;

	read_ahead_start(ra, at, end);
	while ((data = read_ahead_next(ra, tail, n, &len)) != NULL) {
		ck_assert_uint_gt(len, n);
		ck_assert_uint_le(len, n + READ_AHEAD_BLOCK);
		ck_assert(memcmp(data, content + at - n, len) == 0);
		at += len - n;
		n = len < tail_len ? len : tail_len;
		tail = data + len - n;
	}
	ck_assert_uint_eq(at, end);
}

START_TEST(all_blocks_are_given_in_order)
{
	static const size_t tails[] = { 0, 1, 18, READ_AHEAD_TAIL_MAX };

	if (!has_thread())
		return;
	for (size_t i = 0; i < ARRAY_SIZE(tails); i++)
		take_all(0, SIZE, tails[i]);
	take_all(77, READ_AHEAD_BLOCK + 76, 5);
	take_all(77, 78, 5);
	take_all(78, 78, 5);
}
END_TEST

START_TEST(a_new_part_replaces_the_one_that_is_being_read)
{
	const uint8_t *data;
	size_t len;

	if (!has_thread())
		return;
	for (unsigned i = 0; i < 300; i++) {
		uint64_t at = (uint64_t)i * 9973;

		read_ahead_start(ra, at, SIZE);
		for (unsigned k = 0; k < i % 5; k++) {
			data = read_ahead_next(ra, content, 0, &len);
			ck_assert_ptr_nonnull(data);
			ck_assert(memcmp(data, content + at, len) == 0);
			at += len;
		}
	}
	take_all(5, SIZE, 3);
}
END_TEST

START_TEST(a_file_that_has_become_shorter_gives_no_block)
{
	const uint8_t *data;
	size_t len;

	if (!has_thread())
		return;
	ck_assert_int_eq(ftruncate(fd, READ_AHEAD_BLOCK + 10), 0);
	read_ahead_start(ra, 0, SIZE);
	data = read_ahead_next(ra, content, 0, &len);
	ck_assert_ptr_nonnull(data);
	ck_assert_uint_eq(len, READ_AHEAD_BLOCK);
	ck_assert_ptr_null(read_ahead_next(ra, content, 0, &len));
	/* The previous block stays valid, and a new part can be read. */
	ck_assert(memcmp(data, content, READ_AHEAD_BLOCK) == 0);
	take_all(10, READ_AHEAD_BLOCK + 10, 1);
}
END_TEST

START_TEST(a_long_tail_is_refused)
{
	size_t len;

	if (!has_thread())
		return;
	read_ahead_start(ra, 0, SIZE);
	ck_assert_ptr_null(read_ahead_next(ra, content, READ_AHEAD_TAIL_MAX + 1, &len));
	ck_assert_ptr_nonnull(read_ahead_next(ra, content, READ_AHEAD_TAIL_MAX, &len));
}
END_TEST

START_TEST(one_processor_has_no_thread)
{
	cpu_set_t set, one;
	int first = 0;

	ck_assert_int_eq(sched_getaffinity(0, sizeof(set), &set), 0);
	while (!CPU_ISSET(first, &set))
		first++;
	CPU_ZERO(&one);
	CPU_SET(first, &one);
	ck_assert_int_eq(sched_setaffinity(0, sizeof(one), &one), 0);
	ck_assert_ptr_null(read_ahead_new(fd));
	ck_assert_int_eq(sched_setaffinity(0, sizeof(set), &set), 0);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("cmd/jfr/read_ahead");
	TCase *tc = tcase_create("cmd/jfr/read_ahead");
	SRunner *runner;
	int failed;

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_set_timeout(tc, 30);
	tcase_add_test(tc, all_blocks_are_given_in_order);
	tcase_add_test(tc, a_new_part_replaces_the_one_that_is_being_read);
	tcase_add_test(tc, a_file_that_has_become_shorter_gives_no_block);
	tcase_add_test(tc, a_long_tail_is_refused);
	tcase_add_test(tc, one_processor_has_no_thread);
	suite_add_tcase(s, tc);
	runner = srunner_create(s);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed > 0;
}
