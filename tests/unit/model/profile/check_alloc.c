/* Allocation profiles: the agent's frames, merging, order and totals. */
#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "unit/support/sample_alloc.h"

static struct alloc alloc;

static const char *const kinds[] = { "[B", "La/b/C;", "Ljava/lang/String;" };
static const int32_t lines[] = { 12, 7, -1, -2 };
enum { BYTES, C, STRING };

static void setup(void)
{
	alloc = (struct alloc){ 0 };
}

static void teardown(void)
{
	alloc_release(&alloc);
}

static void send_names(void)
{
	send_classes(&alloc, kinds, 3);
	send_frames(&alloc, "La/b/Shop;", lines, 4);
}

static void check_cut_rejected(uint16_t type, const struct payload *p)
{
	ck_assert(wire_writer_ok(&p->w));
	for (size_t len = 0; len < p->w.len; len++)
		ck_assert_msg(take_cut(&alloc, type, p, len) == -EBADMSG, "%s of %zu bytes",
			      wire_type_name(type), len);
}

START_TEST(begin_frame_is_accepted_once)
{
	struct payload p;

	wire_put_u64(begin(&p), 1234);
	wire_put_u32(&p.w, 4711);
	wire_put_u32(&p.w, 3);
	wire_put_u32(&p.w, 12);
	check_cut_rejected(WIRE_ALLOC_BEGUN, &p);
	ck_assert(!alloc.begun);
	ck_assert_int_eq(take(&alloc, WIRE_ALLOC_BEGUN, &p), 0);
	ck_assert(alloc.begun);
	ck_assert_uint_eq(alloc.begin_ns, 1234);
	ck_assert_uint_eq(alloc.hooked, 4711);
	ck_assert_uint_eq(alloc.refused, 3);
	ck_assert_uint_eq(alloc.depth, 12);
	ck_assert_int_eq(take(&alloc, WIRE_ALLOC_BEGUN, &p), -EBADMSG);
}
END_TEST

START_TEST(state_frame_is_parsed)
{
	struct payload p;

	put_state(begin(&p), 5, 6, 7);
	check_cut_rejected(WIRE_ALLOC_STATE, &p);
	ck_assert_uint_eq(alloc.state.ns, 0);
	ck_assert_int_eq(take(&alloc, WIRE_ALLOC_STATE, &p), 0);
	ck_assert_uint_eq(alloc.state.ns, 5);
	ck_assert_uint_eq(alloc.state.samples, 6);
	ck_assert_uint_eq(alloc.state.bytes, 6000);
	ck_assert_uint_eq(alloc.state.dropped, 7);
	ck_assert_uint_eq(alloc.state.sites, 3);
	ck_assert_uint_eq(alloc.state.interval, 524288);
	ck_assert_uint_eq(alloc.state.collections, 2);
}
END_TEST

START_TEST(class_names_are_shown_in_java_syntax)
{
	struct payload p;

	send_names();
	ck_assert_uint_eq(alloc.n_kinds, 3);
	ck_assert_str_eq(alloc.kinds[BYTES], "byte[]");
	ck_assert_str_eq(alloc.kinds[C], "a.b.C");
	ck_assert_str_eq(alloc.kinds[STRING], "java.lang.String");
	wire_put_u32(begin(&p), 1);
	put_text(&p.w, "no signature");
	ck_assert_int_eq(take(&alloc, WIRE_ALLOC_KINDS, &p), -EBADMSG);
	wire_put_u32(begin(&p), 1);
	put_text(&p.w, "[[La/B;");
	check_cut_rejected(WIRE_ALLOC_KINDS, &p);
}
END_TEST

START_TEST(sites_refer_to_known_classes_and_frames)
{
	const uint32_t stack[] = { 0, 1, 2, 3 }, unknown[] = { 0, 4 };
	struct payload p;

	send_names();
	wire_put_u32(begin(&p), 1);
	put_site(&p.w, C, 70, stack, 4);
	check_cut_rejected(WIRE_ALLOC_SITES, &p);
	ck_assert_uint_eq(alloc.n, 0);
	ck_assert_int_eq(take(&alloc, WIRE_ALLOC_SITES, &p), 0);
	ck_assert_uint_eq(alloc.n, 1);
	ck_assert_uint_eq(alloc.sites[0].kind, C);
	ck_assert_uint_eq(alloc.sites[0].objects, 70);
	ck_assert_uint_eq(alloc.sites[0].bytes, 70000);
	ck_assert_uint_eq(alloc.sites[0].samples, 1);
	ck_assert_uint_eq(alloc.sites[0].live_objects, 7);
	ck_assert_uint_eq(alloc.sites[0].live_bytes, 7000);
	ck_assert_uint_eq(alloc.sites[0].n_frames, 4);
	ck_assert_str_eq(alloc.frames.texts[alloc.sites[0].frames[0]], "a.b.Shop.m0(C.java:12)");
	ck_assert_str_eq(alloc.frames.texts[alloc.sites[0].frames[3]],
			 "a.b.Shop.m3(Native Method)");
	wire_put_u32(begin(&p), 1);
	put_site(&p.w, 3, 1, stack, 1);
	ck_assert_int_eq(take(&alloc, WIRE_ALLOC_SITES, &p), -EBADMSG);
	wire_put_u32(begin(&p), 1);
	put_site(&p.w, C, 1, unknown, 2);
	ck_assert_int_eq(take(&alloc, WIRE_ALLOC_SITES, &p), -EBADMSG);
	ck_assert_uint_eq(alloc.n, 1);
}
END_TEST

START_TEST(stack_depth_is_limited)
{
	uint32_t stack[WIRE_ALLOC_DEPTH + 1] = { 0 };
	struct payload p;

	send_names();
	wire_put_u32(begin(&p), 1);
	put_site(&p.w, BYTES, 1, stack, WIRE_ALLOC_DEPTH);
	ck_assert_int_eq(take(&alloc, WIRE_ALLOC_SITES, &p), 0);
	wire_put_u32(begin(&p), 1);
	put_site(&p.w, BYTES, 1, stack, WIRE_ALLOC_DEPTH + 1);
	ck_assert_int_eq(take(&alloc, WIRE_ALLOC_SITES, &p), -EBADMSG);
}
END_TEST

static void put_note(struct payload *p, uint32_t note, const char *text, uint64_t n)
{
	wire_put_u32(begin(p), note);
	put_text(&p->w, text);
	wire_put_u64(&p->w, n);
}

START_TEST(notes_are_escaped_and_limited)
{
	struct payload p;

	put_note(&p, WIRE_ALLOC_OLD_CODE, "a.b.C.run(C.java:7)\n\x1b[2J", 2);
	check_cut_rejected(WIRE_ALLOC_NOTE, &p);
	ck_assert_int_eq(take(&alloc, WIRE_ALLOC_NOTE, &p), 0);
	ck_assert_uint_eq(alloc.n_notes, 1);
	ck_assert_uint_eq(alloc.notes[0].note, WIRE_ALLOC_OLD_CODE);
	ck_assert_str_eq(alloc.notes[0].text, "a.b.C.run(C.java:7)\\x0A\\x1B[2J");
	ck_assert_uint_eq(alloc.notes[0].n, 2);
	put_note(&p, 4711, "from a later agent", 0);
	while (alloc.n_notes < 1000)
		ck_assert_int_eq(take(&alloc, WIRE_ALLOC_NOTE, &p), 0);
	ck_assert_int_eq(take(&alloc, WIRE_ALLOC_NOTE, &p), -EBADMSG);
}
END_TEST

START_TEST(end_frame_ends_the_profile)
{
	struct payload p;

	put_end(&p, WIRE_ALLOCED_FORCED + 1, 0, 0);
	ck_assert_int_eq(take(&alloc, WIRE_ALLOC_END, &p), -EBADMSG);
	put_end(&p, WIRE_ALLOCED_ON, 62, WIRE_ALLOC_EXACT | WIRE_ALLOC_RECORDED);
	check_cut_rejected(WIRE_ALLOC_END, &p);
	ck_assert(!alloc.ended);
	ck_assert_int_eq(take(&alloc, WIRE_ALLOC_END, &p), 1);
	ck_assert(alloc.ended);
	ck_assert_uint_eq(alloc.end, WIRE_ALLOCED_ON);
	ck_assert_int_eq(alloc.code, 62);
	ck_assert_uint_eq(alloc.flags, WIRE_ALLOC_EXACT | WIRE_ALLOC_RECORDED);
	ck_assert_uint_eq(alloc.live_ns, 12000000);
	ck_assert_uint_eq(alloc.state.samples, 12345);
}
END_TEST

START_TEST(unknown_frames_are_rejected)
{
	struct payload p;

	(void)begin(&p);
	ck_assert_int_eq(take(&alloc, WIRE_TRACE_SUMS, &p), -EBADMSG);
	ck_assert_int_eq(take(&alloc, WIRE_ALLOC, &p), -EBADMSG);
	ck_assert_int_eq(take(&alloc, 0xffff, &p), -EBADMSG);
}
END_TEST

START_TEST(sites_that_are_shown_alike_are_merged)
{
	const char *const twice[] = { "[B", "La/b/C;", "La/b/C;" };
	const int32_t same_line[] = { 12 };
	const uint32_t m0[] = { 0 }, again[] = { 4 }, m1[] = { 1 }, deeper[] = { 0, 1 };

	send_classes(&alloc, twice, 3);
	send_frames(&alloc, "La/b/Shop;", lines, 4);
	send_frames(&alloc, "La/b/Shop;", same_line, 1);
	send_site(&alloc, 1, 10, m0, 1);
	send_site(&alloc, 1, 100, m1, 1);
	send_site(&alloc, 2, 20, again, 1); /* loader and bytecode differ, the text does not */
	send_site(&alloc, 1, 1000, deeper, 2);
	send_site(&alloc, 0, 10000, m0, 1);
	send_site(&alloc, 1, UINT64_MAX, m1, 1);
	alloc_merge(&alloc);
	ck_assert_uint_eq(alloc.n, 4);
	ck_assert_uint_eq(alloc.sites[0].objects, 30);
	ck_assert_uint_eq(alloc.sites[0].bytes, 30000);
	ck_assert_uint_eq(alloc.sites[0].samples, 2);
	ck_assert_uint_eq(alloc.sites[0].live_objects, 3);
	ck_assert_uint_eq(alloc.sites[0].live_bytes, 3000);
	ck_assert_uint_eq(alloc.sites[1].objects, UINT64_MAX); /* saturated */
	ck_assert_uint_eq(alloc.sites[2].objects, 1000);
	ck_assert_uint_eq(alloc.sites[3].objects, 10000);
}
END_TEST

static void check_order(enum alloc_order order, const uint64_t *objects)
{
	alloc_sort(&alloc, order);
	for (size_t i = 0; i < alloc.n; i++)
		ck_assert_msg(alloc.sites[i].objects == objects[i], "order %d, site %zu: %llu",
			      (int)order, i, (unsigned long long)alloc.sites[i].objects);
}

START_TEST(sites_are_sorted_with_ties_by_class_and_stack)
{
	static const uint64_t largest_first[] = { 50, 42, 40, 40, 40, 40 };
	const uint32_t m0[] = { 0 }, m1[] = { 1 }, deeper[] = { 0, 1 };

	send_names();
	send_site(&alloc, C, 40, m1, 1);
	send_site(&alloc, STRING, 42, m0, 1);
	send_site(&alloc, C, 40, deeper, 2);
	send_site(&alloc, STRING, 40, m0, 1);
	send_site(&alloc, C, 40, m0, 1);
	send_site(&alloc, BYTES, 50, NULL, 0);
	check_order(ALLOC_BY_COUNT, largest_first);
	ck_assert_uint_eq(alloc.sites[2].kind, C);
	ck_assert_uint_eq(alloc.sites[2].n_frames, 1);
	ck_assert_uint_eq(alloc.sites[2].frames[0], 0);
	ck_assert_uint_eq(alloc.sites[3].n_frames, 2);
	ck_assert_uint_eq(alloc.sites[4].frames[0], 1);
	ck_assert_uint_eq(alloc.sites[5].kind, STRING);
	alloc.sites[5].bytes = 1000000;
	alloc_sort(&alloc, ALLOC_BY_BYTES);
	ck_assert_uint_eq(alloc.sites[0].bytes, 1000000);
	alloc.sites[5].live_bytes = 1000000;
	alloc_sort(&alloc, ALLOC_BY_LIVE_BYTES);
	ck_assert_uint_eq(alloc.sites[0].live_bytes, 1000000);
	alloc.sites[5].live_objects = 1000000;
	alloc_sort(&alloc, ALLOC_BY_LIVE_COUNT);
	ck_assert_uint_eq(alloc.sites[0].live_objects, 1000000);
}
END_TEST

START_TEST(totals_are_summed_and_saturate)
{
	const uint32_t m0[] = { 0 };
	struct alloc_total total;

	send_names();
	send_site(&alloc, C, 40, m0, 1);
	send_site(&alloc, STRING, 50, m0, 1);
	total = alloc_total(&alloc);
	ck_assert_uint_eq(total.objects, 90);
	ck_assert_uint_eq(total.bytes, 90000);
	ck_assert_uint_eq(total.live_objects, 9);
	ck_assert_uint_eq(total.live_bytes, 9000);
	alloc.sites[0].objects = UINT64_MAX;
	ck_assert_uint_eq(alloc_total(&alloc).objects, UINT64_MAX);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("model/profile/alloc");
	TCase *tc = tcase_create("model/profile/alloc");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, begin_frame_is_accepted_once);
	tcase_add_test(tc, state_frame_is_parsed);
	tcase_add_test(tc, class_names_are_shown_in_java_syntax);
	tcase_add_test(tc, sites_refer_to_known_classes_and_frames);
	tcase_add_test(tc, stack_depth_is_limited);
	tcase_add_test(tc, notes_are_escaped_and_limited);
	tcase_add_test(tc, end_frame_ends_the_profile);
	tcase_add_test(tc, unknown_frames_are_rejected);
	tcase_add_test(tc, sites_that_are_shown_alike_are_merged);
	tcase_add_test(tc, sites_are_sorted_with_ties_by_class_and_stack);
	tcase_add_test(tc, totals_are_summed_and_saturate);
	suite_add_tcase(suite, tc);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
