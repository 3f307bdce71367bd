/* The methods of a call tree: own and total values. */
#include <check.h>
#include <inttypes.h>
#include <string.h>

#include "base/buf.h"
#include "base/xalloc.h"
#include "model/profile/hot_methods.h"

/* Adds a stack such as "a.b.C.m:1/a.b.C.n", outermost frame first. */
static void add(struct call_tree *t, const char *stack, uint64_t value)
{
	const uint64_t values[CALL_TREE_VALUES] = { value, 1 };
	_cleanup_free_ char *frames = xstrdup(stack);
	char *rest = frames, *frame;
	uint32_t node = 0;

	while ((frame = strsep(&rest, "/")))
		node = call_tree_child(t, node, frame);
	call_tree_add(t, node, values);
}

/* Compares "thread method self total samples, …". */
static void check_methods(struct call_tree *t, bool by_thread, const char *wanted)
{
	_cleanup_buf_ struct buf out = BUF_INIT;
	struct hot_methods h;

	call_tree_sum(t);
	hot_methods_find(&h, t, by_thread);
	for (size_t i = 0; i < h.n; i++)
		buf_addf(&out, "%s%s%s%s %" PRIu64 " %" PRIu64 " %" PRIu64, i ? ", " : "",
			 hot_methods_name(&h, h.list[i].thread), by_thread ? " " : "",
			 hot_methods_name(&h, h.list[i].name), h.list[i].self[0],
			 h.list[i].total[0], h.list[i].total[1]);
	ck_assert_str_eq(buf_str(&out), wanted);
	hot_methods_release(&h);
	call_tree_release(t);
}

START_TEST(lines_of_a_method_are_added)
{
	struct call_tree t;

	call_tree_init(&t, "ns", "samples");
	add(&t, "C.main:1/C.a:5", 10);
	add(&t, "C.main:2/C.a:6", 30);
	add(&t, "C.main:2/C.b(C.java:7)", 20);
	add(&t, "C.main:2", 1);
	check_methods(&t, false, "C.a 40 40 2, C.b 20 20 1, C.main 1 61 4");
}
END_TEST

START_TEST(recursion_counts_once)
{
	struct call_tree t;

	call_tree_init(&t, "ns", "samples");
	add(&t, "C.a:1/C.a:2/C.a:2", 10);
	add(&t, "C.a:1/C.b:1/C.a:1", 5);
	add(&t, "C.b:1", 1);
	check_methods(&t, false, "C.a 15 15 2, C.b 1 6 2");
}
END_TEST

START_TEST(classes_count_for_the_method_above_them)
{
	struct call_tree t;

	call_tree_init(&t, "bytes", "samples");
	t.ends_in_classes = true;
	add(&t, "C.a:1/java.lang.String", 10);
	add(&t, "C.a:1/C.b:2/int[]", 7);
	add(&t, "int[]", 3);
	check_methods(&t, false, "C.a 10 17 2, C.b 7 7 1");
}
END_TEST

START_TEST(threads_have_their_own_rows)
{
	struct call_tree t;

	call_tree_init(&t, "ns", "samples");
	add(&t, "[main]/C.a:1", 10);
	add(&t, "[worker]/C.a:1", 20);
	add(&t, "[worker]/(2 frames or more)/C.b", 1);
	check_methods(&t, true,
		      "[worker] C.a 20 20 1, [main] C.a 10 10 1, [worker] C.b 1 1 1");
}
END_TEST

START_TEST(empty_tree_has_no_methods)
{
	struct call_tree t;

	call_tree_init(&t, "ns", "samples");
	check_methods(&t, false, "");
}
END_TEST

static const struct {
	const char *frame;
	size_t len;
} frames[] = {
	{ "a.b.C.m:12", 7 },
	{ "a.b.C.m(C.java:12)", 7 },
	{ "a.b.C.m(Native Method)", 7 },
	{ "a.b.C.m", 7 },
	{ "(unloaded)", 10 },
	{ ":12", 3 },
	{ "m:", 2 },
	{ "12", 2 },
	{ "", 0 },
};

START_TEST(line_is_no_part_of_a_method)
{
	ck_assert_uint_eq(call_tree_name_len(frames[_i].frame), frames[_i].len);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("model/profile/hot_methods");
	TCase *t = tcase_create("model/profile/hot_methods");
	SRunner *r = srunner_create(s);
	int failed;

	tcase_add_test(t, lines_of_a_method_are_added);
	tcase_add_test(t, recursion_counts_once);
	tcase_add_test(t, classes_count_for_the_method_above_them);
	tcase_add_test(t, threads_have_their_own_rows);
	tcase_add_test(t, empty_tree_has_no_methods);
	tcase_add_loop_test(t, line_is_no_part_of_a_method, 0, ARRAY_SIZE(frames));
	suite_add_tcase(s, t);
	srunner_run_all(r, CK_ENV);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed > 0;
}
