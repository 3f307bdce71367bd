/* A file is read completely, whatever its length, and not beyond a limit. */
#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/util.h"
#include "base/xalloc.h"
#include "fileio/io.h"

/* Around the sizes of a read and of a buffer. */
static const size_t lengths[] = {
	0, 1, 4095, 4096, 4097, 8191, 8192, 8193, 65534, 65535, 65536, 69631, 69632, 300000,
};

/* Returns a file in memory with these bytes. */
static int file_of(const char *data, size_t len)
{
	int fd = memfd_create("check_io", MFD_CLOEXEC);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(write(fd, data, len), (ssize_t)len);
	ck_assert_int_eq(lseek(fd, 0, SEEK_SET), 0);
	return fd;
}

static void check_slurp(struct buf *out, size_t len, size_t max)
{
	_cleanup_free_ char *data = xmalloc(len + 1);
	size_t before = out->len, wanted = len < max ? len : max;
	_cleanup_close_ int fd = -1;

	for (size_t i = 0; i < len; i++)
		data[i] = (char)(i * 7 + i / 251);
	fd = file_of(data, len);
	ck_assert_int_eq(io_slurp(fd, out, max), len > max ? -EFBIG : 0);
	ck_assert_uint_eq(out->len, before + wanted);
	ck_assert_mem_eq(out->data + before, data, wanted);
	ck_assert_int_eq(out->data[out->len], '\0');
}

START_TEST(files_are_read_completely)
{
	size_t len = lengths[_i];
	struct buf out = BUF_INIT;

	check_slurp(&out, len, 1 << 20);
	check_slurp(&out, len, 1 << 20); /* appends */
	buf_reset(&out);
	check_slurp(&out, len, 1 << 20); /* into a large buffer */
	buf_release(&out);
}
END_TEST

START_TEST(longer_files_are_refused)
{
	size_t max = lengths[_i];

	for (size_t more = 0; more < 3; more++) {
		struct buf out = BUF_INIT;

		check_slurp(&out, max + more, max);
		buf_release(&out);
	}
}
END_TEST

int main(void)
{
	Suite *s = suite_create("fileio/io");
	TCase *tc = tcase_create("fileio/io");
	SRunner *runner;
	int failed;

	tcase_add_loop_test(tc, files_are_read_completely, 0, (int)ARRAY_SIZE(lengths));
	tcase_add_loop_test(tc, longer_files_are_refused, 0, (int)ARRAY_SIZE(lengths));
	suite_add_tcase(s, tc);
	runner = srunner_create(s);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed > 0;
}
