/* Archives that are complete, truncated or damaged are read, and other files are refused. */
#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/xalloc.h"
#include "fileio/io.h"
#include "archive/tar_gz.h"

#define BIG 100000

static int archive, content;
static off_t third; /* offset in the archive of the gzip member of logs/b.txt */

static void add(const char *name, const void *data, size_t len)
{
	ck_assert_int_eq(ftruncate(content, 0), 0);
	ck_assert_int_eq((int)pwrite(content, data, len, 0), (int)len);
	ck_assert_int_eq(tar_gz_add(archive, name, 1000000000, content, len), 0);
}

static void setup(void)
{
	char big[BIG];

	archive = io_unnamed_file();
	content = io_unnamed_file();
	ck_assert_int_ge(archive, 0);
	ck_assert_int_ge(content, 0);
	for (size_t i = 0; i < sizeof(big); i++)
		big[i] = (char)(i * i >> 3);
	add("a.txt", "one", 3);
	add("big", big, sizeof(big));
	third = lseek(archive, 0, SEEK_END);
	add("logs/b.txt", "three", 5);
	add("empty", "", 0);
}

static void teardown(void)
{
	(void)close(archive);
	(void)close(content);
}

static void assert_read(const char *name, int result, const char *text)
{
	_cleanup_buf_ struct buf out = BUF_INIT;

	ck_assert_int_eq(tar_gz_read(archive, name, &out, BIG), result);
	if (text)
		ck_assert_str_eq(buf_str(&out), text);
}

START_TEST(files_are_read_again)
{
	ck_assert_int_eq(tar_gz_end(archive), 0);
	assert_read("a.txt", 0, "one");
	assert_read("b.txt", 0, "three");
	assert_read("empty", 0, "");
	assert_read("big", 0, NULL);
	assert_read(".txt", -ENOENT, NULL);
	assert_read("c", -ENOENT, NULL);
}
END_TEST

START_TEST(size_is_limited)
{
	_cleanup_buf_ struct buf out = BUF_INIT;

	ck_assert_int_eq(tar_gz_read(archive, "big", &out, BIG - 1), -EFBIG);
	ck_assert_uint_eq(out.len, 0);
}
END_TEST

/* If a capture is interrupted, its archive ends without tar_gz_end(). */
START_TEST(archives_without_an_end_are_read)
{
	assert_read("b.txt", 0, "three");
	assert_read("c", -ENOENT, NULL);
}
END_TEST

START_TEST(cut_archives_are_read_up_to_there)
{
	off_t len = lseek(archive, 0, SEEK_END);

	for (; len > 0; len -= len > 2000 ? 997 : 1) {
		_cleanup_buf_ struct buf out = BUF_INIT;
		int rc;

		ck_assert_int_eq(ftruncate(archive, len), 0);
		rc = tar_gz_read(archive, "a.txt", &out, BIG);
		ck_assert_msg(rc == 0 || rc == -ENOENT || rc == -EBADMSG, "%d", rc);
		if (len > 1000)
			ck_assert_int_eq(rc, 0);
	}
}
END_TEST

START_TEST(damage_before_a_file_is_not_a_missing_file)
{
	off_t middle = lseek(archive, 0, SEEK_END) / 2;

	ck_assert_int_eq((int)pwrite(archive, "damaged", 7, middle), 7);
	assert_read("a.txt", 0, "one");
	assert_read("b.txt", -EBADMSG, NULL);
	ck_assert_int_eq(ftruncate(archive, middle), 0);
	assert_read("a.txt", 0, "one");
	assert_read("b.txt", -EBADMSG, NULL);
}
END_TEST

/*
 * A damaged header of a gzip member is not the end of the archive.  Several bits of it, such as
 * those of the time, change nothing.
 */
START_TEST(damaged_header_of_a_member_is_not_a_missing_file)
{
	enum { HEADER = 10, MAGIC = 3 };

	for (off_t bit = 0; bit < 8 * HEADER; bit++) {
		_cleanup_buf_ struct buf out = BUF_INIT;
		const off_t at = third + bit / 8;
		char byte, damaged;
		int rc;

		ck_assert_int_eq((int)pread(archive, &byte, 1, at), 1);
		damaged = (char)(byte ^ 1 << bit % 8);
		ck_assert_int_eq((int)pwrite(archive, &damaged, 1, at), 1);
		rc = tar_gz_read(archive, "b.txt", &out, BIG);
		ck_assert_msg(rc == -EBADMSG || (rc == 0 && bit >= 8 * MAGIC), "bit %d: %d",
			      (int)bit, rc);
		assert_read("big", 0, NULL);
		ck_assert_int_eq((int)pwrite(archive, &byte, 1, at), 1);
	}
}
END_TEST

START_TEST(cut_within_a_member_is_not_a_missing_file)
{
	for (off_t len = lseek(archive, 0, SEEK_END) - 1; len > third; len--) {
		ck_assert_int_eq(ftruncate(archive, len), 0);
		assert_read("a.txt", 0, "one");
	}
	for (off_t len = third + 20; len > third; len--) {
		ck_assert_int_eq(ftruncate(archive, len), 0);
		assert_read("b.txt", -EBADMSG, NULL);
	}
	ck_assert_int_eq(ftruncate(archive, third), 0);
	assert_read("b.txt", -ENOENT, NULL);
}
END_TEST

START_TEST(other_files_are_refused)
{
	static const char text[] = "this is not an archive, and it is longer than a header of gzip";

	ck_assert_int_eq(ftruncate(archive, 0), 0);
	ck_assert_int_eq((int)pwrite(archive, text, sizeof(text), 0), (int)sizeof(text));
	assert_read("a.txt", -EBADMSG, NULL);
	ck_assert_int_eq(ftruncate(archive, 0), 0);
	assert_read("a.txt", -EBADMSG, NULL);
}
END_TEST

/* A damaged byte may change the result, but neither ends the process nor exceeds the limit. */
START_TEST(damaged_archives_do_no_harm)
{
	off_t len = lseek(archive, 0, SEEK_END);

	for (off_t at = 0; at < len; at += at < 400 ? 1 : 499) {
		_cleanup_buf_ struct buf out = BUF_INIT;
		char byte, other;
		int rc;

		ck_assert_int_eq((int)pread(archive, &byte, 1, at), 1);
		other = (char)(byte ^ 0x55);
		ck_assert_int_eq((int)pwrite(archive, &other, 1, at), 1);
		rc = tar_gz_read(archive, "b.txt", &out, BIG);
		ck_assert_msg(rc == 0 || rc == -ENOENT || rc == -EBADMSG || rc == -EFBIG, "%d",
			      rc);
		ck_assert_uint_le(out.len, BIG);
		ck_assert_int_eq((int)pwrite(archive, &byte, 1, at), 1);
	}
	assert_read("b.txt", 0, "three");
}
END_TEST

int main(void)
{
	Suite *s = suite_create("archive/tar_gz");
	TCase *tc = tcase_create("archive/tar_gz");
	SRunner *runner;
	int failed;

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, files_are_read_again);
	tcase_add_test(tc, size_is_limited);
	tcase_add_test(tc, archives_without_an_end_are_read);
	tcase_add_test(tc, cut_archives_are_read_up_to_there);
	tcase_add_test(tc, damage_before_a_file_is_not_a_missing_file);
	tcase_add_test(tc, damaged_header_of_a_member_is_not_a_missing_file);
	tcase_add_test(tc, cut_within_a_member_is_not_a_missing_file);
	tcase_add_test(tc, other_files_are_refused);
	tcase_add_test(tc, damaged_archives_do_no_harm);
	suite_add_tcase(s, tc);
	runner = srunner_create(s);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed > 0;
}
