/* Histogram files. */
#include <check.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/xalloc.h"
#include "cmd/heap/histo_file.h"
#include "fileio/io.h"
#include "unit/support/sample_histo.h"

static char dir[] = "/tmp/check_histo.XXXXXX";
static char file[sizeof(dir) + 16];

static void make_dir(void)
{
	ck_assert_ptr_nonnull(mkdtemp(dir));
	(void)snprintf(file, sizeof(file), "%s/saved", dir);
}

static void remove_dir(void)
{
	(void)unlink(file);
	ck_assert_int_eq(rmdir(dir), 0); /* fails if a file is left */
	memcpy(dir + sizeof(dir) - 7, "XXXXXX", 6);
}

START_TEST(saved_histogram_loads_unchanged)
{
	struct err err = { .code = EXIT_DONE };
	struct histo h = sample(), loaded = { 0 };

	h.live = true;
	for (int i = 0; i < 2; i++) /* the second save replaces the file */
		ck_assert_int_eq(histo_file_save(&h, 42, file, &err), 0);
	ck_assert_int_eq(histo_file_load(&loaded, file, &err), 0);
	ck_assert(loaded.live);
	histo_sort(&h, HISTO_BY_NAME);
	histo_sort(&loaded, HISTO_BY_NAME);
	ck_assert_str_eq(rows(&loaded), rows(&h));
	ck_assert_ptr_null(find(&loaded, "a.b.One")->module);
	ck_assert_str_eq(find(&loaded, "int[][]")->module, "java.base");
	ck_assert_str_eq(find(&loaded, "a.b.One")->loader, "app");
	histo_subtract(&loaded, &h);
	ck_assert_uint_eq(loaded.n, 0);
	histo_release(&h);
	histo_release(&loaded);
}
END_TEST

START_TEST(reason_of_a_failed_write_is_named)
{
	struct err err = { .code = EXIT_DONE };
	struct histo h = sample();

	ck_assert_int_eq(histo_file_save(&h, 42, "/dev/full", &err), -1);
	ck_assert_ptr_nonnull(strcasestr(err.text, "no space left"));
	histo_release(&h);
}
END_TEST

static void write_file(const char *text)
{
	_cleanup_close_ int fd = open(file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(io_write_all(fd, text, strlen(text), deadline_in_ms(1000)), 0);
}

#define SAVED(classes, total) \
	"{\"pid\":1,\"live\":false,\"classes\":[" classes "],\"total\":{" total "}}"
#define ROW(instances) \
	"{\"class\":\"a\",\"loader\":null,\"module\":null,\"instances\":" instances ",\"bytes\":8}"

static const struct {
	const char *text, *error; /* error NULL: the text is valid */
} saved[] = {
	{ SAVED(ROW("1"), "\"classes\":1,\"instances\":1,\"bytes\":8"), NULL },
	{ SAVED("", "\"classes\":0,\"instances\":0,\"bytes\":0"), NULL },
	{ SAVED(ROW("1"), "\"classes\":2,\"instances\":1,\"bytes\":8"), "only a part" },
	{ SAVED(ROW("1"), "\"classes\":1,\"instances\":9,\"bytes\":8"), "only a part" },
	{ SAVED(ROW("-1"), "\"classes\":1,\"instances\":-1,\"bytes\":8"), "no class histogram" },
	{ SAVED(ROW("\"1\""), "\"classes\":1,\"instances\":1,\"bytes\":8"), "no class histogram" },
	{ SAVED("1,2,3", "\"classes\":3,\"instances\":1,\"bytes\":8"), "no class histogram" },
	{ "{\"classes\":[]}", "no class histogram" },
	{ "{\"classes\":5,\"total\":{}}", "only a part" },
	{ "[]", "no class histogram" },
	{ "num #instances", "no class histogram" },
	{ "", "no class histogram" },
};

START_TEST(only_complete_histogram_files_load)
{
	struct err err = { .code = EXIT_DONE };
	struct histo h = { 0 };

	write_file(saved[_i].text);
	if (!saved[_i].error) {
		ck_assert_int_eq(histo_file_load(&h, file, &err), 0);
	} else {
		ck_assert_int_eq(histo_file_load(&h, file, &err), -1);
		ck_assert_int_eq(err.code, EXIT_USAGE);
		ck_assert_msg(strstr(err.text, saved[_i].error) != NULL, "%s", err.text);
	}
	histo_release(&h);
}
END_TEST

START_TEST(missing_files_and_directories_are_refused)
{
	struct err err = { .code = EXIT_DONE };
	struct histo h = sample(), loaded = { 0 };

	ck_assert_int_eq(histo_file_load(&loaded, file, &err), -1);
	ck_assert_int_eq(err.code, EXIT_USAGE);
	err.code = EXIT_DONE;
	ck_assert_int_eq(histo_file_save(&h, 1, "/no/such/dir/file", &err), -1);
	ck_assert_int_eq(err.code, EXIT_PARTIAL);
	histo_release(&h);
}
END_TEST

/* The target of a link keeps its name and loses its former content. */
START_TEST(saving_through_a_link_replaces_its_target)
{
	struct err err = { .code = EXIT_DONE };
	struct histo h = sample(), loaded = { 0 };
	_cleanup_free_ char *longer = xasprintf("%065536d", 0);
	char link[sizeof(file) + 8];
	struct stat st;

	(void)snprintf(link, sizeof(link), "%s.link", file);
	ck_assert_int_eq(symlink(file, link), 0);
	write_file(longer);
	ck_assert_int_eq(histo_file_save(&h, 1, link, &err), 0);
	ck_assert_int_eq(lstat(link, &st), 0);
	ck_assert(S_ISLNK(st.st_mode));
	ck_assert_int_eq(unlink(link), 0);
	ck_assert_int_eq(histo_file_load(&loaded, file, &err), 0);
	histo_release(&h);
	histo_release(&loaded);
}
END_TEST

/* A user who could not read the old file cannot read the new one. */
START_TEST(replaced_file_keeps_its_mode)
{
	struct err err = { .code = EXIT_DONE };
	struct histo h = sample();
	struct stat st;

	write_file("old"); /* mode 0600 */
	ck_assert_int_eq(histo_file_save(&h, 1, file, &err), 0);
	ck_assert_int_eq(stat(file, &st), 0);
	ck_assert_uint_eq(st.st_mode & 07777, 0600);
	histo_release(&h);
}
END_TEST

/* jtool writes to a device, because replacing the file would remove the device. */
START_TEST(devices_are_written_not_replaced)
{
	struct err err = { .code = EXIT_DONE };
	struct histo h = sample();
	struct stat st;

	ck_assert_int_eq(histo_file_save(&h, 1, "/dev/null", &err), 0);
	ck_assert_int_eq(lstat("/dev/null", &st), 0);
	ck_assert(S_ISCHR(st.st_mode));
	ck_assert_int_eq(histo_file_save(&h, 1, "/dev/full", &err), -1);
	histo_release(&h);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("cmd/heap/histo_file");
	TCase *tc = tcase_create("cmd/heap/histo_file");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_add_checked_fixture(tc, make_dir, remove_dir);
	tcase_add_test(tc, saved_histogram_loads_unchanged);
	tcase_add_test(tc, reason_of_a_failed_write_is_named);
	tcase_add_loop_test(tc, only_complete_histogram_files_load, 0, ARRAY_SIZE(saved));
	tcase_add_test(tc, missing_files_and_directories_are_refused);
	tcase_add_test(tc, saving_through_a_link_replaces_its_target);
	tcase_add_test(tc, replaced_file_keeps_its_mode);
	tcase_add_test(tc, devices_are_written_not_replaced);
	tcase_set_timeout(tc, 60);
	suite_add_tcase(suite, tc);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}
