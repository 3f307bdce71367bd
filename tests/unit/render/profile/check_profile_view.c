/* A profile as text and as JSON. */
#include <check.h>
#include <string.h>

#include "render/profile/profile_view.h"

static void add(struct profile *p, const char *const *frames, uint64_t value)
{
	const uint64_t values[CALL_TREE_VALUES] = { value, 1 };
	uint32_t node = 0;

	for (; *frames; frames++)
		node = call_tree_child(&p->tree, node, *frames);
	call_tree_add(&p->tree, node, values);
	p->samples++;
}

#define ADD(p, value, ...) add(p, (const char *const[]){ __VA_ARGS__, NULL }, value)

static struct profile cpu_profile(void)
{
	struct profile p = {
		.kind = PROFILE_CPU, .by_thread = true, .source = "jdk.CPUTimeSample",
		.interval_ns = 10000000, .duration_ns = 2500000000,
	};

	call_tree_init(&p.tree, "ns", "samples");
	ADD(&p, 30000000, "[main]", "C.main:1", "C.a:2");
	ADD(&p, 10000000, "[main]", "C.main:1");
	p.gaps[PROFILE_LOST_SAMPLES] = 1;
	call_tree_sum(&p.tree);
	return p;
}

static void show(const struct profile *p, struct buf *out, bool json)
{
	struct hot_methods methods;
	struct profile_view view = { .profile = p, .methods = &methods, .pid = 42 };
	struct json *doc;

	hot_methods_find(&methods, &p->tree, p->by_thread);
	view.n = json ? methods.n : 1;
	if (json) {
		doc = profile_json(&view);
		json_add_document(out, doc);
		json_free(doc);
	} else {
		profile_text_add(out, &view);
	}
	hot_methods_release(&methods);
}

START_TEST(text_has_shares_and_says_what_it_hides)
{
	_cleanup_buf_ struct buf out = BUF_INIT;
	struct profile p = cpu_profile();

	show(&p, &out, false);
	ck_assert_str_eq(buf_str(&out),
			 "2.5 s: 40.0 ms of CPU time in 2 samples, one every 10.0 ms\n"
			 "\n"
			 "    SELF      %     TOTAL      %  THREAD  METHOD\n"
			 " 30.0 ms   75.0   30.0 ms   75.0  main    C.a\n"
			 "… 1 more method (-n 0 shows all)\n");
	profile_release(&p);
}
END_TEST

START_TEST(json_has_methods_stacks_and_notes)
{
	_cleanup_buf_ struct buf out = BUF_INIT;
	struct profile p = cpu_profile();

	show(&p, &out, true);
	ck_assert_str_eq(
		buf_str(&out),
		"{\"schema\":1,\"event\":\"cpu\",\"pid\":42,\"file\":null,"
		"\"source\":\"jdk.CPUTimeSample\",\"samples\":2,\"duration\":2.5,"
		"\"interval\":0.01,\"unit\":\"ns\",\"value\":40000000,\"methods\":["
		"{\"self\":30000000,\"total\":30000000,\"thread\":\"main\",\"method\":\"C.a\","
		"\"self_samples\":1,\"total_samples\":1},"
		"{\"self\":10000000,\"total\":40000000,\"thread\":\"main\",\"method\":\"C.main\","
		"\"self_samples\":1,\"total_samples\":2}],\"stacks\":["
		"{\"thread\":\"main\",\"frames\":[\"C.main:1\"],\"class\":null,\"samples\":1,"
		"\"value\":10000000},"
		"{\"thread\":\"main\",\"frames\":[\"C.a:2\",\"C.main:1\"],\"class\":null,"
		"\"samples\":1,\"value\":30000000}],\"notes\":["
		"{\"note\":\"lost_samples\",\"n\":1,"
		"\"text\":\"1 of 2 samples were lost by the recorder, mostly of threads that work "
		"within the JVM, such as to fill in a stack trace: counted as (lost samples), "
		"in no method\"}]}");
	profile_release(&p);
}
END_TEST

START_TEST(class_of_a_stack_is_not_a_frame)
{
	_cleanup_buf_ struct buf out = BUF_INIT;
	struct profile p = { .kind = PROFILE_LOCK, .source = "jdk.JavaMonitorEnter" };

	call_tree_init(&p.tree, "ns", "waits");
	p.tree.ends_in_classes = true;
	ADD(&p, 5000, "C.main:1", "a.Lock");
	call_tree_sum(&p.tree);
	show(&p, &out, true);
	ck_assert_ptr_nonnull(strstr(buf_str(&out),
				     "{\"thread\":null,\"frames\":[\"C.main:1\"],"
				     "\"class\":\"a.Lock\",\"samples\":1,\"value\":5000}"));
	buf_reset(&out);
	show(&p, &out, false);
	ck_assert_ptr_nonnull(strstr(buf_str(&out),
				     "0.0 s: 5.00 us of waiting for locks in 1 wait\n"));
	profile_release(&p);
}
END_TEST

START_TEST(empty_profile_has_only_its_first_line)
{
	_cleanup_buf_ struct buf out = BUF_INIT;
	struct profile p = { .kind = PROFILE_EXCEPTIONS };

	call_tree_init(&p.tree, "exceptions", NULL);
	call_tree_sum(&p.tree);
	show(&p, &out, false);
	ck_assert_str_eq(buf_str(&out), "0.0 s: 0 exceptions\n");
	buf_reset(&out);
	show(&p, &out, true);
	ck_assert_ptr_nonnull(strstr(buf_str(&out), "\"source\":null"));
	ck_assert_ptr_nonnull(strstr(buf_str(&out), "\"stacks\":[],\"notes\":[]"));
	profile_release(&p);
}
END_TEST

START_TEST(each_gap_has_a_text)
{
	_cleanup_buf_ struct buf out = BUF_INIT;
	struct profile p = { .kind = PROFILE_LOCK };

	for (int gap = 0; gap < N_PROFILE_GAPS; gap++) {
		buf_reset(&out);
		ck_assert(!profile_gap_add(&out, &p, (enum profile_gap)gap));
		p.gaps[gap] = 2;
		ck_assert(profile_gap_add(&out, &p, (enum profile_gap)gap));
		ck_assert_uint_gt(out.len, 30);
	}
}
END_TEST

int main(void)
{
	Suite *s = suite_create("render/profile/profile_view");
	TCase *t = tcase_create("render/profile/profile_view");
	SRunner *r = srunner_create(s);
	int failed;

	tcase_add_test(t, text_has_shares_and_says_what_it_hides);
	tcase_add_test(t, json_has_methods_stacks_and_notes);
	tcase_add_test(t, class_of_a_stack_is_not_a_frame);
	tcase_add_test(t, empty_profile_has_only_its_first_line);
	tcase_add_test(t, each_gap_has_a_text);
	suite_add_tcase(s, t);
	srunner_run_all(r, CK_ENV);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed > 0;
}
