/* Histograms in files and in tables. */
#include <check.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io.h"
#include "base/xalloc.h"
#include "histo_rows.h"
#include "render/histo_json.h"
#include "render/histo_table.h"

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
	ck_assert_int_eq(rmdir(dir), 0); /* and so nothing else was left in it */
	memcpy(dir + sizeof(dir) - 7, "XXXXXX", 6);
}

START_TEST(saves_and_loads)
{
	struct err err = { .code = EXIT_DONE };
	struct histo h = sample(), back = { 0 };

	h.live = true;
	for (int i = 0; i < 2; i++) /* the second time over the first */
		ck_assert_int_eq(histo_save(&h, 42, file, &err), 0);
	ck_assert_int_eq(histo_load(&back, file, &err), 0);
	ck_assert(back.live);
	histo_sort(&h, HISTO_BY_NAME);
	histo_sort(&back, HISTO_BY_NAME);
	ck_assert_str_eq(rows(&back), rows(&h));
	ck_assert_ptr_null(find(&back, "a.b.One")->module);
	ck_assert_str_eq(find(&back, "int[][]")->module, "java.base");
	ck_assert_str_eq(find(&back, "a.b.One")->loader, "app");
	histo_subtract(&back, &h);
	ck_assert_uint_eq(back.n, 0);
	histo_release(&h);
	histo_release(&back);
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
	const char *text, *error; /* NULL: it is good */
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

START_TEST(loads_only_what_is_saved)
{
	struct err err = { .code = EXIT_DONE };
	struct histo h = { 0 };

	write_file(saved[_i].text);
	if (!saved[_i].error) {
		ck_assert_int_eq(histo_load(&h, file, &err), 0);
	} else {
		ck_assert_int_eq(histo_load(&h, file, &err), -1);
		ck_assert_int_eq(err.code, EXIT_USAGE);
		ck_assert_msg(strstr(err.text, saved[_i].error) != NULL, "%s", err.text);
	}
	histo_release(&h);
}
END_TEST

START_TEST(refuses_files)
{
	struct err err = { .code = EXIT_DONE };
	struct histo h = sample(), back = { 0 };

	ck_assert_int_eq(histo_load(&back, file, &err), -1);
	ck_assert_int_eq(err.code, EXIT_USAGE);
	err.code = EXIT_DONE;
	ck_assert_int_eq(histo_save(&h, 1, "/no/such/dir/file", &err), -1);
	ck_assert_int_eq(err.code, EXIT_PARTIAL);
	histo_release(&h);
}
END_TEST

/* What a link leads to keeps its name, and nothing of what it held before. */
START_TEST(saves_through_links)
{
	struct err err = { .code = EXIT_DONE };
	struct histo h = sample(), back = { 0 };
	_cleanup_free_ char *longer = xasprintf("%065536d", 0);
	char link[sizeof(file) + 8];
	struct stat st;

	(void)snprintf(link, sizeof(link), "%s.link", file);
	ck_assert_int_eq(symlink(file, link), 0);
	write_file(longer);
	ck_assert_int_eq(histo_save(&h, 1, link, &err), 0);
	ck_assert_int_eq(lstat(link, &st), 0);
	ck_assert(S_ISLNK(st.st_mode));
	ck_assert_int_eq(unlink(link), 0);
	ck_assert_int_eq(histo_load(&back, file, &err), 0);
	histo_release(&h);
	histo_release(&back);
}
END_TEST

/* Nobody can read the new one who could not read the old one. */
START_TEST(keeps_the_mode)
{
	struct err err = { .code = EXIT_DONE };
	struct histo h = sample();
	struct stat st;

	write_file("old"); /* with 0600 */
	ck_assert_int_eq(histo_save(&h, 1, file, &err), 0);
	ck_assert_int_eq(stat(file, &st), 0);
	ck_assert_uint_eq(st.st_mode & 07777, 0600);
	histo_release(&h);
}
END_TEST

/* A device is written to: replacing it would take it away. */
START_TEST(saves_to_devices)
{
	struct err err = { .code = EXIT_DONE };
	struct histo h = sample();
	struct stat st;

	ck_assert_int_eq(histo_save(&h, 1, "/dev/null", &err), 0);
	ck_assert_int_eq(lstat("/dev/null", &st), 0);
	ck_assert(S_ISCHR(st.st_mode));
	ck_assert_int_eq(histo_save(&h, 1, "/dev/full", &err), -1);
	histo_release(&h);
}
END_TEST

static char *printed(const struct histo *h, const struct histo_view *view)
{
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);

	ck_assert_ptr_nonnull(out);
	histo_print(h, view, out);
	(void)fclose(out);
	return text;
}

START_TEST(tables)
{
	struct histo h = { 0 };
	struct histo_view view = { .n_rows = 2 };
	char *text;

	histo_add(&h, "a.B", "app", NULL, 12, 3456);
	histo_add(&h, "c.D[]", "bootstrap", NULL, 1, 16);
	histo_add(&h, "a.B", "other", NULL, 1, 8);
	view.total = histo_total(&h);
	text = printed(&h, &view);
	ck_assert_str_eq(text, "INSTANCES  BYTES  CLASS\n"
			       "       12   3456  a.B\n"
			       "        1     16  c.D[]\n"
			       "       14   3480  total of 3 classes\n");
	free(text);

	view.n_rows = 3; /* now two rows look the same */
	text = printed(&h, &view);
	ck_assert_ptr_nonnull(strstr(text, "LOADER"));
	ck_assert_ptr_nonnull(strstr(text, "other"));
	free(text);

	view.by = HISTO_PACKAGE;
	view.is_diff = true;
	histo_group(&h, HISTO_PACKAGE);
	view.n_rows = h.n;
	text = printed(&h, &view);
	ck_assert_str_eq(text, "+INSTANCES  +BYTES  +CLASSES  PACKAGE\n"
			       "        13    3464         2  a\n"
			       "         1      16         1  c\n"
			       "        14    3480         3  total\n");
	free(text);
	histo_release(&h);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("histo_json");
	TCase *tc = tcase_create("histo_json");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_add_checked_fixture(tc, make_dir, remove_dir);
	tcase_add_test(tc, saves_and_loads);
	tcase_add_loop_test(tc, loads_only_what_is_saved, 0, ARRAY_SIZE(saved));
	tcase_add_test(tc, refuses_files);
	tcase_add_test(tc, saves_through_links);
	tcase_add_test(tc, keeps_the_mode);
	tcase_add_test(tc, saves_to_devices);
	tcase_add_test(tc, tables);
	tcase_set_timeout(tc, 60);
	suite_add_tcase(suite, tc);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}
