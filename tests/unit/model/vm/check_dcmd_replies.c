/* Replies of the JVM to diagnostic commands: heap, version and lines. */
#include <check.h>
#include <stdlib.h>

#include "base/xalloc.h"
#include "model/vm/dcmd_replies.h"
#include "unit/support/data.h"

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
	struct dcmd_reply_heap heap;
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

START_TEST(heap_of_every_collector_is_parsed)
{
	_cleanup_buf_ struct buf text = BUF_INIT;
	const struct dcmd_reply_heap *expected = &heaps[_i].heap;
	struct dcmd_reply_heap got;

	read_fixture(heaps[_i].name, &text);
	dcmd_reply_heap(buf_str(&text), &got);
	ck_assert_int_eq(got.used, expected->used);
	ck_assert_int_eq(got.committed, expected->committed);
	ck_assert_int_eq(got.max, expected->max);
	ck_assert_int_eq(got.metaspace_used, expected->metaspace_used);
	ck_assert_int_eq(got.metaspace_committed, expected->metaspace_committed);
}
END_TEST

/* The copy has the exact length: ASan detects reads past the end. */
START_TEST(replies_cut_at_every_byte_are_parsed)
{
	_cleanup_buf_ struct buf text = BUF_INIT;

	read_fixture(heaps[_i].name, &text);
	for (size_t len = 0; len <= text.len; len++) {
		_cleanup_free_ char *cut = xstrndup(text.data, len);
		_cleanup_free_ char *line = dcmd_reply_line(cut, "Metaspace");
		_cleanup_free_ char *vm = NULL, *release = NULL;
		struct dcmd_reply_heap got;

		dcmd_reply_heap(cut, &got);
		dcmd_reply_version(cut, &vm, &release);
		ck_assert_int_ge(got.used, -1);
		ck_assert_int_le(got.used, 64 * M);
		ck_assert_ptr_null(line);
	}
}
END_TEST

START_TEST(invalid_sizes_are_ignored)
{
	static const char *const texts[] = {
		"", "\n\n", "ZHeap", "ZHeap used", "ZHeap used x, capacity",
		"ZHeap used 5, capacity 3Q",
		"ZHeap used 99999999999999999999T, capacity 16777216T, max capacity -1M",
		"garbage-first heap total used K", "total used", "used total 9223372036854775807T",
		" soft max,", "x soft max, used", "max, soft max, committed used",
	};
	struct dcmd_reply_heap got;

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		dcmd_reply_heap(texts[i], &got);
		ck_assert_int_eq(got.used, -1);
		ck_assert_int_eq(got.committed, -1);
		ck_assert_int_eq(got.max, -1);
	}
	/* The sum overflows. */
	dcmd_reply_heap("a total 1K, used 8388607T\nb total 1K, used 8388607T\n", &got);
	ck_assert_int_eq(got.used, -1);
}
END_TEST

static void check_version(const char *text, const char *vm, const char *release)
{
	_cleanup_free_ char *got_vm = NULL, *got_release = NULL;

	dcmd_reply_version(text, &got_vm, &got_release);
	ck_assert_pstr_eq(got_vm, vm);
	ck_assert_pstr_eq(got_release, release);
}

START_TEST(versions_and_lines_are_parsed)
{
	static const char command_line[] = "VM Arguments:\njvm_args: -Xmx64m -Da=b: \n"
					   "java_command: Idle one\njava_class_path (initial): .\n"
					   "empty: \nnothing:\nlast: x";

	check_version("OpenJDK 64-Bit Server VM version 25.504-b01\nJDK 8.0_504\n",
		      "OpenJDK 64-Bit Server VM", "1.8.0_504");
	check_version("OpenJDK 64-Bit Server VM version 25.504-b01\nJDK 8.",
		      "OpenJDK 64-Bit Server VM", "1.8.");
	check_version("OpenJDK 64-Bit Server VM version 25.504-b01\n", "OpenJDK 64-Bit Server VM",
		      "25.504-b01");
	check_version("OpenJDK 64-Bit Server VM version 17.0.9+9-Debian-2\nJDK 17.0.9\n",
		      "OpenJDK 64-Bit Server VM", "17.0.9+9-Debian-2");
	check_version("Unknown command\nversion 3", NULL, NULL);
	check_version("", NULL, NULL);
	check_version("a version ", "a", "");
	for (size_t i = 0; i < 6; i++) {
		static const char *const lines[][2] = {
			{ "jvm_args", "-Xmx64m -Da=b:" }, { "java_command", "Idle one" },
			{ "empty", NULL }, { "nothing", NULL }, { "last", "x" }, { "java", NULL },
		};
		_cleanup_free_ char *got = dcmd_reply_line(command_line, lines[i][0]);

		ck_assert_pstr_eq(got, lines[i][1]);
	}
}
END_TEST

int main(void)
{
	Suite *s = suite_create("model/vm/dcmd_replies");
	TCase *tc = tcase_create("model/vm/dcmd_replies");
	SRunner *sr = srunner_create(s);
	int failed;

	suite_add_tcase(s, tc);
	tcase_add_loop_test(tc, heap_of_every_collector_is_parsed, 0, ARRAY_SIZE(heaps));
	tcase_add_loop_test(tc, replies_cut_at_every_byte_are_parsed, 0, ARRAY_SIZE(heaps));
	tcase_add_test(tc, invalid_sizes_are_ignored);
	tcase_add_test(tc, versions_and_lines_are_parsed);
	srunner_run_all(sr, CK_NORMAL);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed != 0;
}
