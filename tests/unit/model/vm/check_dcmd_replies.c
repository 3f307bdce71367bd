#include <check.h>
#include <stdlib.h>

#include "base/xalloc.h"
#include "model/vmtold.h"
#include "data.h"

#define K 1024
#define M (1024 * 1024)

static void read_fixture(const char *name, struct buf *out)
{
	_cleanup_free_ char *path = xasprintf("heap_info/%s", name);

	read_data(path, out);
}

/* clang-format off */
static const struct {
	const char *name;
	struct vmtold_heap heap;
} heaps[] = {
	{ "jdk8-serial", { 1398 * K, -1, -1, 2823 * K, 4864 * K } },
	{ "jdk8-g1", { 0, 64 * M, -1, 2823 * K, 4864 * K } },
	{ "jdk11-cms", { 1397 * K, -1, -1, 234 * K, 4864 * K } },
	{ "jdk11-zgc", { 4 * M, 64 * M, 64 * M, 3549 * K, 4352 * K } },
	{ "jdk17-parallel", { 1310 * K, -1, -1, 191 * K, 384 * K } },
	{ "jdk17-shenandoah", { 1280 * K, 64 * M, 64 * M, 191 * K, 384 * K } },
	{ "jdk25-g1", { 2180 * K, 64 * M, 64 * M, -1, -1 } },
	{ "jdk27-g1", { 1229 * K, 10 * M, 64 * M, -1, -1 } },
	{ "jdk27-serial", { 1218 * K, -1, -1, -1, -1 } },
	{ "jdk27-shenandoah", { 1276 * K, 6656 * K, 64 * M, -1, -1 } },
	{ "jdk27-zgc", { 4 * M, 8 * M, 64 * M, -1, -1 } },
	{ "jdk27-epsilon", { -1, -1, -1, -1, -1 } },
};
/* clang-format on */

START_TEST(every_collector_tells_its_heap)
{
	_cleanup_buf_ struct buf text = BUF_INIT;
	const struct vmtold_heap *expected = &heaps[_i].heap;
	struct vmtold_heap got;

	read_fixture(heaps[_i].name, &text);
	vmtold_heap(buf_str(&text), &got);
	ck_assert_int_eq(got.used, expected->used);
	ck_assert_int_eq(got.committed, expected->committed);
	ck_assert_int_eq(got.max, expected->max);
	ck_assert_int_eq(got.metaspace_used, expected->metaspace_used);
	ck_assert_int_eq(got.metaspace_committed, expected->metaspace_committed);
}
END_TEST

/* The allocation ends where the text does, so that a byte too far is seen. */
START_TEST(answers_may_be_cut_anywhere)
{
	_cleanup_buf_ struct buf text = BUF_INIT;

	read_fixture(heaps[_i].name, &text);
	for (size_t len = 0; len <= text.len; len++) {
		_cleanup_free_ char *cut = xstrndup(text.data, len);
		_cleanup_free_ char *line = vmtold_line(cut, "Metaspace");
		_cleanup_free_ char *vm = NULL, *release = NULL;
		struct vmtold_heap got;

		vmtold_heap(cut, &got);
		vmtold_version(cut, &vm, &release);
		ck_assert_int_ge(got.used, -1);
		ck_assert_int_le(got.used, 64 * M);
		ck_assert_ptr_null(line);
	}
}
END_TEST

START_TEST(sizes_that_no_heap_has)
{
	static const char *const texts[] = {
		"", "\n\n", "ZHeap", "ZHeap used", "ZHeap used x, capacity",
		"ZHeap used 5, capacity 3Q",
		"ZHeap used 99999999999999999999T, capacity 16777216T, max capacity -1M",
		"garbage-first heap total used K", "total used", "used total 9223372036854775807T",
		" soft max,", "x soft max, used", "max, soft max, committed used",
	};
	struct vmtold_heap got;

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		vmtold_heap(texts[i], &got);
		ck_assert_int_eq(got.used, -1);
		ck_assert_int_eq(got.committed, -1);
		ck_assert_int_eq(got.max, -1);
	}
	/* Sums that no number holds. */
	vmtold_heap("a total 1K, used 8388607T\nb total 1K, used 8388607T\n", &got);
	ck_assert_int_eq(got.used, -1);
}
END_TEST

static void check_version(const char *text, const char *vm, const char *release)
{
	_cleanup_free_ char *got_vm = NULL, *got_release = NULL;

	vmtold_version(text, &got_vm, &got_release);
	ck_assert_pstr_eq(got_vm, vm);
	ck_assert_pstr_eq(got_release, release);
}

START_TEST(versions_and_lines)
{
	static const char command_line[] = "VM Arguments:\njvm_args: -Xmx64m -Da=b: \n"
					   "java_command: Idle one\njava_class_path (initial): .\n"
					   "empty: \nnothing:\nlast: x";

	check_version("OpenJDK 64-Bit Server VM version 25.504-b01\nJDK 8.0_504\n",
		      "OpenJDK 64-Bit Server VM", "25.504-b01");
	check_version("Unknown command\nversion 3", NULL, NULL);
	check_version("", NULL, NULL);
	check_version("a version ", "a", "");
	for (size_t i = 0; i < 6; i++) {
		static const char *const lines[][2] = {
			{ "jvm_args", "-Xmx64m -Da=b:" }, { "java_command", "Idle one" },
			{ "empty", NULL }, { "nothing", NULL }, { "last", "x" }, { "java", NULL },
		};
		_cleanup_free_ char *got = vmtold_line(command_line, lines[i][0]);

		ck_assert_pstr_eq(got, lines[i][1]);
	}
}
END_TEST

int main(void)
{
	Suite *s = suite_create("vmtold");
	TCase *tc = tcase_create("vmtold");
	SRunner *sr = srunner_create(s);
	int failed;

	suite_add_tcase(s, tc);
	tcase_add_loop_test(tc, every_collector_tells_its_heap, 0, ARRAY_SIZE(heaps));
	tcase_add_loop_test(tc, answers_may_be_cut_anywhere, 0, ARRAY_SIZE(heaps));
	tcase_add_test(tc, sizes_that_no_heap_has);
	tcase_add_test(tc, versions_and_lines);
	srunner_run_all(sr, CK_NORMAL);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed != 0;
}
