/* Call trees, collapsed stacks and flame graphs. */
#include <check.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/sha256.h"
#include "model/profile/call_tree_diff.h"
#include "render/json.h"
#include "render/profile/collapsed.h"
#include "render/profile/flamegraph.h"

/* The test is built with a lower limit than jtool, see tests/Makemodule.am. */
#define NODES_MAX CALL_TREE_NODES_MAX
_Static_assert(NODES_MAX > 1000000 && NODES_MAX < 2000000, "the test adds a million");

/* Adds a stack such as "a/b/c", outermost frame first, with two values; returns its last node. */
static uint32_t add(struct call_tree *t, const char *stack, uint64_t value, uint64_t other)
{
	const uint64_t values[CALL_TREE_VALUES] = { value, other };
	_cleanup_free_ char *frames = strdup(stack);
	char *rest = frames, *frame;
	uint32_t node = 0;

	while ((frame = strsep(&rest, "/")))
		node = call_tree_child(t, node, frame);
	call_tree_add(t, node, values);
	return node;
}

/* Returns the nodes in order, with the first value: "name level self total, …".  Caller frees. */
static char *nodes_text(const struct call_tree *t)
{
	struct buf out = BUF_INIT;
	uint32_t node = 0;
	size_t level = 0, up;

	while ((node = call_tree_next(t, node, true, &up)) != 0) {
		level += 1 - up;
		buf_addf(&out, "%s%s %zu %" PRIu64 " %" PRIu64, out.len ? ", " : "",
			 call_tree_name(t, node), level, t->nodes[node].self[0],
			 t->nodes[node].total[0]);
	}
	return buf_take(&out);
}

static void check_collapsed(const struct call_tree *t, unsigned value, const char *wanted)
{
	_cleanup_buf_ struct buf out = BUF_INIT;

	collapsed_add(&out, t, value);
	ck_assert_str_eq(buf_str(&out), wanted);
}

START_TEST(difference_has_the_stacks_of_both_trees)
{
	static const char collapsed[] = "C.a;C.b:7 20\n\nC.a;C$$Lambda$1/123.run 5\nC.a;x y 1\n";
	struct call_tree now, before, diff;

	call_tree_init(&now, "ns", "samples");
	(void)add(&now, "C.a:1/C.b:2", 10, 1);
	(void)add(&now, "C.a:1/C.c:2", 4, 1);
	(void)add(&now, "C.a:1/C$$Lambda#0x7f.run", 3, 1);
	call_tree_sum(&now);
	call_tree_init(&before, "", NULL);
	ck_assert_uint_eq(call_tree_add_collapsed(&before, collapsed, strlen(collapsed)), 0);
	call_tree_sum(&before);
	call_tree_diff(&now, &before, &diff);
	ck_assert(diff.is_diff);
	ck_assert_str_eq(diff.units[1], "ns");
	check_collapsed(&diff, 0, "C.a;C$$Lambda.run 3\nC.a;C.b 10\nC.a;C.c 4\n");
	check_collapsed(&diff, 1, "C.a;C$$Lambda.run 5\nC.a;C.b 20\nC.a;x y 1\n");
	call_tree_release(&diff);
	call_tree_release(&before);
	call_tree_release(&now);
}
END_TEST

static const struct {
	const char *text;
	size_t line;
} collapsed_defects[] = {
	{ "", 0 }, { "a 1\n", 0 }, { "a 1", 0 }, { "a\n", 1 }, { "a 1\nb x\n", 2 }, { " 1\n", 1 },
	{ "a -1\n", 1 }, { "a 99999999999999999999\n", 1 }, { "a 1 \n", 1 }, { "a 1x\n", 1 },
};

START_TEST(defects_of_collapsed_stacks_are_named_by_their_line)
{
	struct call_tree t;

	call_tree_init(&t, "", NULL);
	ck_assert_uint_eq(call_tree_add_collapsed(&t, collapsed_defects[_i].text,
						  strlen(collapsed_defects[_i].text)),
			  collapsed_defects[_i].line);
	call_tree_release(&t);
}
END_TEST

START_TEST(methods_without_lines_have_one_frame)
{
	struct call_tree t, methods;

	call_tree_init(&t, "bytes", "objects");
	t.ends_in_classes = true;
	(void)add(&t, "C.a:1/C.b(C.java:2)/host:80", 1, 1);
	(void)add(&t, "C.a:3/C.b(C.java:4)/host:80", 2, 1);
	(void)add(&t, "C.a:3/C.b(C.java:4)/host:81", 4, 1);
	call_tree_sum(&t);
	call_tree_drop_lines(&t, &methods);
	check_collapsed(&methods, 0, "C.a;C.b;host:80 3\nC.a;C.b;host:81 4\n");
	check_collapsed(&methods, 1, "C.a;C.b;host:80 2\nC.a;C.b;host:81 1\n");
	ck_assert(methods.ends_in_classes);
	call_tree_release(&methods);
	call_tree_release(&t);
}
END_TEST

START_TEST(values_are_summed_along_stacks)
{
	_cleanup_free_ char *text = NULL;
	struct call_tree t;
	uint32_t ab;

	call_tree_init(&t, "bytes", "objects");
	add(&t, "b/x", 1, 10);
	ab = add(&t, "a/b", 2, 20);
	add(&t, "a/b/c", 4, 40);
	add(&t, "a/a", 8, 80);
	ck_assert_uint_eq(add(&t, "a/b", 16, 160), ab);
	ck_assert_uint_eq(t.n, 7);
	call_tree_sum(&t);
	ck_assert_uint_eq(t.nodes[0].total[0], 31);
	ck_assert_uint_eq(t.nodes[0].total[1], 310);
	ck_assert_uint_eq(t.nodes[ab].total[1], 220);
	text = nodes_text(&t);
	ck_assert_str_eq(text, "a 1 0 30, a 2 8 8, b 2 18 22, c 3 4 4, b 1 0 1, x 2 1 1");
	check_collapsed(&t, 0, "a;a 8\na;b 18\na;b;c 4\nb;x 1\n");
	check_collapsed(&t, 1, "a;a 80\na;b 180\na;b;c 40\nb;x 10\n");
	call_tree_release(&t);
}
END_TEST

/* Stacks of the maximum depth may lack frames, so they have their own root. */
START_TEST(truncated_stacks_are_separate)
{
	const uint64_t one[CALL_TREE_VALUES] = { 1, 1 };
	struct call_tree t;

	call_tree_init(&t, "bytes", "objects");
	call_tree_add(&t, call_tree_child(&t, call_tree_begin(&t, 1, 2), "a"), one);
	call_tree_add(&t, call_tree_child(&t, call_tree_begin(&t, 2, 2), "a"), one);
	call_tree_sum(&t);
	check_collapsed(&t, 0, "(2 frames or more);a 1\na 1\n");
	call_tree_release(&t);
}
END_TEST

START_TEST(stacks_can_be_added_after_a_sum)
{
	struct call_tree t;

	call_tree_init(&t, "ns", "calls");
	add(&t, "b", 1, 1);
	call_tree_sum(&t);
	add(&t, "a", 2, 1);
	add(&t, "b", 4, 1);
	call_tree_sum(&t);
	check_collapsed(&t, 0, "a 2\nb 5\n");
	ck_assert_uint_eq(t.nodes[0].total[1], 3);
	call_tree_release(&t);
}
END_TEST

START_TEST(sums_saturate)
{
	struct call_tree t;

	call_tree_init(&t, "bytes", NULL);
	add(&t, "a/b", UINT64_MAX - 1, 0);
	add(&t, "a/c", 7, 0);
	call_tree_sum(&t);
	ck_assert_uint_eq(t.nodes[0].total[0], UINT64_MAX);
	add(&t, "a/b", 2, 0);
	check_collapsed(&t, 0, "a;b 18446744073709551615\na;c 7\n");
	call_tree_release(&t);
}
END_TEST

START_TEST(empty_tree_and_empty_stack_are_printed)
{
	struct call_tree t;

	call_tree_init(&t, "bytes", NULL);
	call_tree_sum(&t);
	check_collapsed(&t, 0, "");
	call_tree_add(&t, 0, (const uint64_t[]){ 5, 0 }); /* a stack of no frames */
	check_collapsed(&t, 0, "? 5\n");
	call_tree_release(&t);
}
END_TEST

START_TEST(hostile_names_are_escaped_in_collapsed_stacks)
{
	struct call_tree t;

	call_tree_init(&t, "bytes", NULL);
	add(&t, "a;b 7\nc/\xff\xe2\x80\xa8", 1, 0);
	add(&t, "", 2, 0);
	add(&t, "m(int, long)", 3, 0);
	call_tree_sum(&t);
	check_collapsed(&t, 0, "? 2\na:b 7\\x0Ac;\\xFF\\xE2\\x80\\xA8 1\nm(int, long) 3\n");
	call_tree_release(&t);
}
END_TEST

/* Half of the nodes are one deep stack, half are children of the root; then the tree is filled. */
START_TEST(million_nodes_are_summed_and_the_limit_holds)
{
	_cleanup_buf_ struct buf out = BUF_INIT;
	const uint64_t one[CALL_TREE_VALUES] = { 1, 1 };
	struct call_tree t;
	uint32_t node = 0;
	char name[16];

	call_tree_init(&t, "bytes", "objects");
	for (uint32_t i = 0; i < 500000; i++)
		node = call_tree_child(&t, node, "deep");
	call_tree_add(&t, node, one);
	for (int round = 0; round < 2; round++) {
		for (uint32_t i = 0; i < 500000; i++) {
			(void)snprintf(name, sizeof(name), "%u", i);
			call_tree_add(&t, call_tree_child(&t, 0, name), one);
		}
	}
	ck_assert_uint_eq(t.n, 1000001);
	ck_assert(!t.full);
	call_tree_sum(&t);
	ck_assert_uint_eq(t.nodes[1].total[0], 1);
	ck_assert_uint_eq(t.nodes[0].total[0], 1000001);
	collapsed_add(&out, &t, 0);
	ck_assert_mem_eq(out.data, "0 2\n1 2\n10 2\n100 2\n1000 2\n", 26);
	ck_assert_uint_gt(out.len, 500000 * strlen("deep;"));

	for (uint32_t i = 0; i < NODES_MAX; i++)
		node = call_tree_child(&t, node, "deep");
	ck_assert(t.full);
	ck_assert_uint_eq(t.n, NODES_MAX);
	ck_assert_uint_eq(call_tree_child(&t, 1, "new"), 1);
	ck_assert_uint_eq(call_tree_child(&t, 1, "deep"), 2); /* existing nodes are still found */
	call_tree_release(&t);
}
END_TEST

static char *page_of(struct call_tree *t, const char *title)
{
	struct buf out = BUF_INIT;
	struct err err = { 0 };

	call_tree_sum(t);
	ck_assert_int_eq(flamegraph_add(&out, t, title, "below", &err), 0);
	ck_assert_uint_eq(strlen(buf_str(&out)), out.len);
	return buf_take(&out);
}

/* Returns the text between the first `from` and the next `to`; the caller frees it. */
static char *between(const char *page, const char *from, const char *to)
{
	const char *begin = strstr(page, from), *end;

	ck_assert_ptr_nonnull(begin);
	begin += strlen(from);
	end = strstr(begin, to);
	ck_assert_ptr_nonnull(end);
	return strndup(begin, (size_t)(end - begin));
}

static char *data_of(const char *page)
{
	return between(page, "<script type=\"application/json\" id=\"data\">", "</script>");
}

static void check_data(const char *page, const char *wanted)
{
	_cleanup_free_ char *data = data_of(page);
	struct json *parsed = json_parse(data, strlen(data));

	ck_assert_ptr_nonnull(parsed);
	json_free(parsed);
	ck_assert_msg(strstr(data, wanted) != NULL, "no %s in %s", wanted, data);
}

START_TEST(page_contains_the_tree)
{
	_cleanup_free_ char *page = NULL;
	struct call_tree t;

	call_tree_init(&t, "bytes", "objects");
	t.ends_in_classes = true;
	add(&t, "main/m/byte[]", 100, 1);
	add(&t, "main/m", 0, 0); /* m has a child, so it is a method */
	add(&t, "main/byte[]", 50, 2);
	page = page_of(&t, "Title");
	check_data(page, "{\"title\":\"Title\",\n\"subtitle\":\"below\",\n"
			 "\"units\":[\"bytes\",\"objects\"],\n"
			 "\"names\":[\"\",\"main\",\"byte[]\",\"m\"],\n"
			 "\"levels\":[0,1,2,2,3],\n\"frames\":[0,1,-3,3,-3],\n"
			 "\"values\":[[0,0,50,0,100],\n[0,0,2,0,1]]}");
	call_tree_release(&t);
}
END_TEST

START_TEST(page_of_a_tree_with_one_unit_has_one_value)
{
	_cleanup_free_ char *page = NULL;
	struct call_tree t;

	call_tree_init(&t, "ns", NULL);
	add(&t, "a/b", UINT64_MAX, 3);
	page = page_of(&t, "");
	check_data(page, "\"units\":[\"ns\"],\n\"names\":[\"\",\"a\",\"b\"],\n\"levels\":[0,1,2],\n"
			 "\"frames\":[0,1,2],\n\"values\":[[0,0,18446744073709551615]]}");
	call_tree_release(&t);
}
END_TEST

/* The values of omitted frames are added to the self values of their callers. */
START_TEST(page_omits_frames_too_small_to_see)
{
	_cleanup_free_ char *page = NULL;
	struct call_tree t;

	call_tree_init(&t, "bytes", "objects");
	add(&t, "a/large", 1000000, 1000000);
	add(&t, "a/little/inner", 9, 9);
	add(&t, "a/none", 0, 0);
	add(&t, "a/many", 1, 10);
	add(&t, "tiny", 4, 4);
	page = page_of(&t, "");
	check_data(page, "\"names\":[\"\",\"a\",\"large\",\"many\"],\n\"levels\":[0,1,2,2],\n"
			 "\"frames\":[0,1,2,3],\n"
			 "\"values\":[[4,9,1000000,1],\n[4,9,1000000,10]]}");
	call_tree_release(&t);
}
END_TEST

static size_t count(const char *text, const char *what)
{
	size_t n = 0;

	while ((text = strstr(text, what))) {
		text += strlen(what);
		n++;
	}
	return n;
}

START_TEST(page_escapes_hostile_names)
{
	_cleanup_free_ char *page = NULL, *data = NULL, *empty = NULL;
	struct call_tree t;

	call_tree_init(&t, "bytes", "objects");
	empty = page_of(&t, "");
	add(&t, "<\\/script><script>alert(1)<!--", 1, 1);
	add(&t, "\"],\"x\":[\"\\", 1, 1);
	add(&t, "\n\x01\xe2\x80\xa9\xff", 1, 1);
	add(&t, "@SCRIPT@@DATA@", 1, 1);
	page = page_of(&t, "</title></script><script>alert(2)</script>");
	data = data_of(page);
	ck_assert_uint_eq(count(page, "<script"), count(empty, "<script"));
	ck_assert_uint_eq(count(page, "</script"), 2);
	ck_assert_uint_eq(count(page, "<!--"), count(empty, "<!--"));
	ck_assert_ptr_null(strpbrk(data, "<>&\x01"));
	check_data(page, "\"names\":[\"\",\"\\\\x0A\\\\x01\\\\xE2\\\\x80\\\\xA9\\\\xFF\","
			 "\"\\\"],\\\"x\\\":[\\\"\\\\\",\"\\u003c\\\\\",");
	check_data(page, "\"@SCRIPT@@DATA@\"");
	call_tree_release(&t);
}
END_TEST

START_TEST(page_policy_allows_only_its_own_script_and_style)
{
	_cleanup_free_ char *page = NULL, *style = NULL, *script = NULL, *policy = NULL;
	char hash[SHA256_BASE64_LEN + 1];
	struct call_tree t;

	call_tree_init(&t, "bytes", "objects");
	page = page_of(&t, "");
	policy = between(page, "content=\"default-src 'none';", "\">");
	style = between(page, "<style>", "</style>");
	script = between(page, "<script>", "</script>");
	ck_assert_ptr_nonnull(strstr(policy, sha256_base64(style, strlen(style), hash)));
	ck_assert_ptr_nonnull(strstr(policy, sha256_base64(script, strlen(script), hash)));
	ck_assert_ptr_null(strstr(policy, "unsafe"));
	ck_assert_str_eq(sha256_base64("", 0, hash),
			 "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=");
	call_tree_release(&t);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("model/profile/call_tree");
	TCase *t = tcase_create("model/profile/call_tree");
	SRunner *r = srunner_create(s);
	int failed;

	tcase_add_test(t, difference_has_the_stacks_of_both_trees);
	tcase_add_loop_test(t, defects_of_collapsed_stacks_are_named_by_their_line, 0,
			    sizeof(collapsed_defects) / sizeof(*collapsed_defects));
	tcase_add_test(t, methods_without_lines_have_one_frame);
	tcase_add_test(t, values_are_summed_along_stacks);
	tcase_add_test(t, truncated_stacks_are_separate);
	tcase_add_test(t, stacks_can_be_added_after_a_sum);
	tcase_add_test(t, sums_saturate);
	tcase_add_test(t, empty_tree_and_empty_stack_are_printed);
	tcase_add_test(t, hostile_names_are_escaped_in_collapsed_stacks);
	tcase_add_test(t, million_nodes_are_summed_and_the_limit_holds);
	tcase_add_test(t, page_contains_the_tree);
	tcase_add_test(t, page_of_a_tree_with_one_unit_has_one_value);
	tcase_add_test(t, page_omits_frames_too_small_to_see);
	tcase_add_test(t, page_escapes_hostile_names);
	tcase_add_test(t, page_policy_allows_only_its_own_script_and_style);
	suite_add_tcase(s, t);
	srunner_run_all(r, CK_NORMAL);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
