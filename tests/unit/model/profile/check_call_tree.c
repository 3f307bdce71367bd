#include <check.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/digest.h"
#include "render/collapsed.h"
#include "render/flamegraph.h"
#include "render/json.h"

/* As many as there is room for, in this test: see Makemodule.am. */
#define NODES_MAX STACKTREE_NODES_MAX
_Static_assert(NODES_MAX > 1000000 && NODES_MAX < 2000000, "a million, and room to fill");

/* "a/b/c": a stack. */
static uint32_t add(struct stacktree *t, const char *stack, uint64_t value, uint64_t other)
{
	const uint64_t values[STACKTREE_VALUES] = { value, other };
	_cleanup_free_ char *frames = strdup(stack);
	char *rest = frames, *frame;
	uint32_t node = 0;

	while ((frame = strsep(&rest, "/")))
		node = stacktree_child(t, node, frame);
	stacktree_add(t, node, values);
	return node;
}

/* All nodes in their order: "name level self total, …". */
static char *walked(const struct stacktree *t)
{
	struct buf out = BUF_INIT;
	uint32_t node = 0;
	size_t level = 0, up;

	while ((node = stacktree_next(t, node, true, &up)) != 0) {
		level += 1 - up;
		buf_addf(&out, "%s%s %zu %" PRIu64 " %" PRIu64, out.len ? ", " : "",
			 stacktree_name(t, node), level, t->nodes[node].self[0],
			 t->nodes[node].total[0]);
	}
	return buf_take(&out);
}

static void check_collapsed(const struct stacktree *t, unsigned value, const char *wanted)
{
	_cleanup_buf_ struct buf out = BUF_INIT;

	collapsed_add(&out, t, value);
	ck_assert_str_eq(buf_str(&out), wanted);
}

START_TEST(sums)
{
	_cleanup_free_ char *text = NULL;
	struct stacktree t;
	uint32_t ab;

	stacktree_init(&t, "bytes", "objects");
	add(&t, "b/x", 1, 10);
	ab = add(&t, "a/b", 2, 20);
	add(&t, "a/b/c", 4, 40);
	add(&t, "a/a", 8, 80);
	ck_assert_uint_eq(add(&t, "a/b", 16, 160), ab);
	ck_assert_uint_eq(t.n, 7);
	stacktree_sum(&t);
	ck_assert_uint_eq(t.nodes[0].total[0], 31);
	ck_assert_uint_eq(t.nodes[0].total[1], 310);
	ck_assert_uint_eq(t.nodes[ab].total[1], 220);
	text = walked(&t);
	ck_assert_str_eq(text, "a 1 0 30, a 2 8 8, b 2 18 22, c 3 4 4, b 1 0 1, x 2 1 1");
	check_collapsed(&t, 0, "a;a 8\na;b 18\na;b;c 4\nb;x 1\n");
	check_collapsed(&t, 1, "a;a 80\na;b 180\na;b;c 40\nb;x 10\n");
	stacktree_release(&t);
}
END_TEST

/* Those that may be cut stand by themselves. */
START_TEST(begins)
{
	const uint64_t one[STACKTREE_VALUES] = { 1, 1 };
	struct stacktree t;

	stacktree_init(&t, "bytes", "objects");
	stacktree_add(&t, stacktree_child(&t, stacktree_begin(&t, 1, 2), "a"), one);
	stacktree_add(&t, stacktree_child(&t, stacktree_begin(&t, 2, 2), "a"), one);
	stacktree_sum(&t);
	check_collapsed(&t, 0, "(2 frames or more);a 1\na 1\n");
	stacktree_release(&t);
}
END_TEST

/* More may come after a sum, and it is made anew. */
START_TEST(sums_again)
{
	struct stacktree t;

	stacktree_init(&t, "ns", "calls");
	add(&t, "b", 1, 1);
	stacktree_sum(&t);
	add(&t, "a", 2, 1);
	add(&t, "b", 4, 1);
	stacktree_sum(&t);
	check_collapsed(&t, 0, "a 2\nb 5\n");
	ck_assert_uint_eq(t.nodes[0].total[1], 3);
	stacktree_release(&t);
}
END_TEST

START_TEST(saturates)
{
	struct stacktree t;

	stacktree_init(&t, "bytes", NULL);
	add(&t, "a/b", UINT64_MAX - 1, 0);
	add(&t, "a/c", 7, 0);
	stacktree_sum(&t);
	ck_assert_uint_eq(t.nodes[0].total[0], UINT64_MAX);
	add(&t, "a/b", 2, 0);
	check_collapsed(&t, 0, "a;b 18446744073709551615\na;c 7\n");
	stacktree_release(&t);
}
END_TEST

START_TEST(without_stacks)
{
	struct stacktree t;

	stacktree_init(&t, "bytes", NULL);
	stacktree_sum(&t);
	check_collapsed(&t, 0, "");
	stacktree_add(&t, 0, (const uint64_t[]){ 5, 0 }); /* a stack of no frames */
	check_collapsed(&t, 0, "? 5\n");
	stacktree_release(&t);
}
END_TEST

START_TEST(hostile_names)
{
	struct stacktree t;

	stacktree_init(&t, "bytes", NULL);
	add(&t, "a;b 7\nc/\xff\xe2\x80\xa8", 1, 0);
	add(&t, "", 2, 0);
	add(&t, "m(int, long)", 3, 0);
	stacktree_sum(&t);
	check_collapsed(&t, 0, "? 2\na:b 7\\x0Ac;\\xFF\\xE2\\x80\\xA8 1\nm(int, long) 3\n");
	stacktree_release(&t);
}
END_TEST

/* As wide as deep, and then some more than there is room for. */
START_TEST(a_million)
{
	_cleanup_buf_ struct buf out = BUF_INIT;
	const uint64_t one[STACKTREE_VALUES] = { 1, 1 };
	struct stacktree t;
	uint32_t node = 0;
	char name[16];

	stacktree_init(&t, "bytes", "objects");
	for (uint32_t i = 0; i < 500000; i++)
		node = stacktree_child(&t, node, "deep");
	stacktree_add(&t, node, one);
	for (int round = 0; round < 2; round++) {
		for (uint32_t i = 0; i < 500000; i++) {
			(void)snprintf(name, sizeof(name), "%u", i);
			stacktree_add(&t, stacktree_child(&t, 0, name), one);
		}
	}
	ck_assert_uint_eq(t.n, 1000001);
	ck_assert(!t.full);
	stacktree_sum(&t);
	ck_assert_uint_eq(t.nodes[1].total[0], 1);
	ck_assert_uint_eq(t.nodes[0].total[0], 1000001);
	collapsed_add(&out, &t, 0);
	ck_assert_mem_eq(out.data, "0 2\n1 2\n10 2\n100 2\n1000 2\n", 26);
	ck_assert_uint_gt(out.len, 500000 * strlen("deep;"));

	for (uint32_t i = 0; i < NODES_MAX; i++)
		node = stacktree_child(&t, node, "deep");
	ck_assert(t.full);
	ck_assert_uint_eq(t.n, NODES_MAX);
	ck_assert_uint_eq(stacktree_child(&t, 1, "new"), 1);
	ck_assert_uint_eq(stacktree_child(&t, 1, "deep"), 2); /* what is there, is found */
	stacktree_release(&t);
}
END_TEST

static char *page_of(struct stacktree *t, const char *title)
{
	struct buf out = BUF_INIT;

	stacktree_sum(t);
	flamegraph_add(&out, t, title, "below");
	ck_assert_uint_eq(strlen(buf_str(&out)), out.len);
	return buf_take(&out);
}

/* The text from behind the first mark to the second. */
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

START_TEST(page_has_the_tree)
{
	_cleanup_free_ char *page = NULL;
	struct stacktree t;

	stacktree_init(&t, "bytes", "objects");
	t.ends_in_classes = true;
	add(&t, "main/m/byte[]", 100, 1);
	add(&t, "main/m", 0, 0); /* no class: it has a child */
	add(&t, "main/byte[]", 50, 2);
	page = page_of(&t, "Title");
	check_data(page, "{\"title\":\"Title\",\n\"subtitle\":\"below\",\n"
			 "\"units\":[\"bytes\",\"objects\"],\n"
			 "\"names\":[\"\",\"main\",\"byte[]\",\"m\"],\n"
			 "\"levels\":[0,1,2,2,3],\n\"frames\":[0,1,-3,3,-3],\n"
			 "\"values\":[[0,0,50,0,100],\n[0,0,2,0,1]]}");
	stacktree_release(&t);
}
END_TEST

START_TEST(page_of_one_value)
{
	_cleanup_free_ char *page = NULL;
	struct stacktree t;

	stacktree_init(&t, "ns", NULL);
	add(&t, "a/b", UINT64_MAX, 3);
	page = page_of(&t, "");
	check_data(page, "\"units\":[\"ns\"],\n\"names\":[\"\",\"a\",\"b\"],\n\"levels\":[0,1,2],\n"
			 "\"frames\":[0,1,2],\n\"values\":[[0,0,18446744073709551615]]}");
	stacktree_release(&t);
}
END_TEST

/* What nobody could see by either value is its caller's. */
START_TEST(page_leaves_out)
{
	_cleanup_free_ char *page = NULL;
	struct stacktree t;

	stacktree_init(&t, "bytes", "objects");
	add(&t, "a/large", 1000000, 1000000);
	add(&t, "a/little/inner", 9, 9);
	add(&t, "a/none", 0, 0);
	add(&t, "a/many", 1, 10);
	add(&t, "tiny", 4, 4);
	page = page_of(&t, "");
	check_data(page, "\"names\":[\"\",\"a\",\"large\",\"many\"],\n\"levels\":[0,1,2,2],\n"
			 "\"frames\":[0,1,2,3],\n"
			 "\"values\":[[4,9,1000000,1],\n[4,9,1000000,10]]}");
	stacktree_release(&t);
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

START_TEST(page_of_hostile_names)
{
	_cleanup_free_ char *page = NULL, *data = NULL, *empty = NULL;
	struct stacktree t;

	stacktree_init(&t, "bytes", "objects");
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
	stacktree_release(&t);
}
END_TEST

/* Its policy knows what is in it, and nothing else. */
START_TEST(page_names_its_script)
{
	_cleanup_free_ char *page = NULL, *style = NULL, *script = NULL, *policy = NULL;
	char hash[DIGEST_BASE64_LEN + 1];
	struct stacktree t;

	stacktree_init(&t, "bytes", "objects");
	page = page_of(&t, "");
	policy = between(page, "content=\"default-src 'none';", "\">");
	style = between(page, "<style>", "</style>");
	script = between(page, "<script>", "</script>");
	ck_assert_ptr_nonnull(strstr(policy, digest_base64(style, strlen(style), hash)));
	ck_assert_ptr_nonnull(strstr(policy, digest_base64(script, strlen(script), hash)));
	ck_assert_ptr_null(strstr(policy, "unsafe"));
	ck_assert_str_eq(digest_base64("", 0, hash),
			 "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=");
	stacktree_release(&t);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("stacktree");
	TCase *t = tcase_create("stacktree");
	SRunner *r = srunner_create(s);
	int failed;

	tcase_add_test(t, sums);
	tcase_add_test(t, begins);
	tcase_add_test(t, sums_again);
	tcase_add_test(t, saturates);
	tcase_add_test(t, without_stacks);
	tcase_add_test(t, hostile_names);
	tcase_add_test(t, a_million);
	tcase_add_test(t, page_has_the_tree);
	tcase_add_test(t, page_of_one_value);
	tcase_add_test(t, page_leaves_out);
	tcase_add_test(t, page_of_hostile_names);
	tcase_add_test(t, page_names_its_script);
	suite_add_tcase(s, t);
	srunner_run_all(r, CK_NORMAL);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
