#include <check.h>
#include <stdio.h>
#include <stdlib.h>

#include "unit/support/sample_alloc.h"
#include "base/xalloc.h"
#include "render/profile/alloc_view.h"

static struct alloc alloc;
static uint32_t sites[8];

static const char *const kinds[] = { "[B", "La/b/C;", "La/b/\x1b[2J;" };
static const int32_t lines[] = { 12, 7, -1 };
static const uint32_t stack[] = { 0, 1, 2 };

static void setup(void)
{
	alloc = (struct alloc){ 0 };
	send_classes(&alloc, kinds, 3);
	send_frames(&alloc, "La/b/Shop;", lines, 3);
	for (uint32_t i = 0; i < 8; i++)
		sites[i] = i;
}

static void teardown(void)
{
	alloc_release(&alloc);
}

static struct alloc_view view_of(enum alloc_order order)
{
	return (struct alloc_view){
		.alloc = &alloc,
		.sites = sites,
		.n = alloc.n,
		.order = order,
		.total = alloc_total(&alloc),
		.frames = 10,
		.pid = 4711,
	};
}

static void text_is(const struct alloc_view *view, const char *expected)
{
	struct buf out = BUF_INIT;

	alloc_text_add(&out, view);
	ck_assert_str_eq(buf_str(&out), expected);
	buf_release(&out);
}

static void json_is(const struct alloc_view *view, const char *expected)
{
	struct json *json = alloc_json(view);
	struct buf out = BUF_INIT;

	json_add(&out, json);
	ck_assert_str_eq(buf_str(&out), expected);
	buf_release(&out);
	json_free(json);
}

START_TEST(sampled_profile_prints_estimates)
{
	struct alloc_view view;

	send_site(&alloc, 0, 300000, stack, 2);
	send_site(&alloc, 1, 100000, stack + 2, 1);
	send_end(&alloc, 0);
	view = view_of(ALLOC_BY_BYTES);
	text_is(&view,
		"10.0 s: about 381 MiB in 400,000 objects, by 12,345 samples, one in 512 KiB\n"
		"\n"
		"   BYTES      %    COUNT  CLASS\n"
		" 286 MiB   75.0  300,000  byte[]\n"
		"      at a.b.Shop.m0(C.java:12)\n"
		"      at a.b.Shop.m1(C.java:7)\n"
		"95.4 MiB   25.0  100,000  a.b.C\n"
		"      at a.b.Shop.m2(C.java)\n");
}
END_TEST

/* Threads that allocate little are not sampled: the number of objects is not known to be 0. */
START_TEST(profile_without_samples_prints_no_estimate)
{
	struct alloc_view view;

	send_end(&alloc, WIRE_ALLOC_LIVE);
	alloc.state.samples = alloc.state.bytes = 0;
	view = view_of(ALLOC_BY_LIVE_BYTES);
	text_is(&view, "10.0 s: no samples, one in 512 KiB\n");
	alloc.flags = WIRE_ALLOC_EXACT;
	view = view_of(ALLOC_BY_BYTES);
	text_is(&view, "10.0 s: 0 B in 0 objects, each counted\n");
}
END_TEST

START_TEST(live_profile_prints_live_columns_first)
{
	struct alloc_view view;

	send_site(&alloc, 1, 10, stack, 0);
	send_end(&alloc, WIRE_ALLOC_EXACT | WIRE_ALLOC_LIVE);
	view = view_of(ALLOC_BY_LIVE_BYTES);
	view.age = 3;
	view.n_hidden = 1234;
	text_is(&view,
		"10.0 s: 9.77 KiB in 10 objects, each counted; live at the end: 1000 B in 1 object"
		", counting what survived at least 3 collections\n"
		"\n"
		"    LIVE      %  LIVE COUNT     BYTES  COUNT  CLASS\n"
		"  1000 B  100.0           1  9.77 KiB     10  a.b.C\n"
		"      (no Java code)\n"
		"\n"
		"… 1,234 more sites (-n 0 shows all)\n");
}
END_TEST

START_TEST(stacks_are_truncated_only_if_that_saves_lines)
{
	const uint32_t deep[] = { 0, 0, 0, 1, 1, 1 };
	struct alloc_view view;
	struct buf out = BUF_INIT;

	send_site(&alloc, 0, 1, deep, 6);
	send_end(&alloc, 0);
	view = view_of(ALLOC_BY_COUNT);
	view.frames = 5;
	alloc_text_add(&out, &view);
	ck_assert_ptr_null(strstr(buf_str(&out), "more"));
	buf_reset(&out);
	view.frames = 4;
	alloc_text_add(&out, &view);
	ck_assert_ptr_nonnull(strstr(buf_str(&out), "      ... 2 more\n"));
	buf_reset(&out);
	view.frames = 0;
	alloc_text_add(&out, &view);
	ck_assert_ptr_null(strstr(buf_str(&out), "more"));
	buf_release(&out);
}
END_TEST

START_TEST(control_characters_in_names_are_escaped)
{
	struct alloc_view view;
	struct buf out = BUF_INIT;

	send_site(&alloc, 2, 1, stack, 0);
	send_end(&alloc, 0);
	view = view_of(ALLOC_BY_BYTES);
	alloc_text_add(&out, &view);
	ck_assert_ptr_null(strchr(buf_str(&out), '\x1b'));
	ck_assert_ptr_nonnull(strstr(buf_str(&out), "a.b.\\x1B[2J\n"));
	buf_release(&out);
}
END_TEST

START_TEST(sampled_profile_is_printed_as_json)
{
	struct alloc_view view;

	send_site(&alloc, 0, 300, stack, 2);
	send_site(&alloc, 1, 100, stack, 0);
	send_end(&alloc, 0);
	view = view_of(ALLOC_BY_BYTES);
	view.n = 1; /* one row; the totals include all sites */
	json_is(&view,
		"{\"pid\":4711,\"file\":null,\"exact\":false,\"interval\":524288,"
		"\"seconds\":10.04,\"total_bytes\":400000,\"total_count\":400,"
		"\"live_count\":null,\"live_bytes\":null,\"samples\":12345,\"dropped\":0,"
		"\"collections\":2,\"recorded\":false,"
		"\"sites\":[{\"class\":\"byte[]\",\"count\":300,\"bytes\":300000,\"samples\":1,"
		"\"live_count\":null,\"live_bytes\":null,"
		"\"stack\":[\"a.b.Shop.m0(C.java:12)\",\"a.b.Shop.m1(C.java:7)\"]}],"
		"\"notes\":[]}");
}
END_TEST

static void add_note(uint32_t note, const char *text, uint64_t n)
{
	struct payload p;

	wire_put_u32(begin(&p), note);
	put_text(&p.w, text);
	wire_put_u64(&p.w, n);
	ck_assert_int_eq(take(&alloc, WIRE_ALLOC_NOTE, &p), 0);
}

START_TEST(report_file_is_printed_as_json)
{
	struct alloc_view view;

	add_note(WIRE_ALLOC_OLD_CODE, "a.b.C.run", 1);
	add_note(4711, "", 0);
	send_end(&alloc, WIRE_ALLOC_EXACT | WIRE_ALLOC_LIVE | WIRE_ALLOC_RECORDED);
	view = view_of(ALLOC_BY_BYTES);
	view.pid = 0;
	view.file = "/tmp/report";
	json_is(&view,
		"{\"pid\":null,\"file\":\"/tmp/report\",\"exact\":true,\"interval\":null,"
		"\"seconds\":10.04,\"total_bytes\":0,\"total_count\":0,"
		"\"live_count\":0,\"live_bytes\":0,\"samples\":12345,\"dropped\":0,"
		"\"collections\":2,\"recorded\":true,\"sites\":[],"
		"\"notes\":[{\"note\":\"old_code\",\"text\":\"a.b.C.run\",\"n\":1},"
		"{\"note\":null,\"text\":\"\",\"n\":0}]}");
}
END_TEST

static const struct {
	uint32_t note;
	const char *text;
	uint64_t n;
	const char *expected;
} notes[] = {
	{ WIRE_ALLOC_OLD_CODE, "a.b.C.run(C.java:7)", 1,
	  "1 thread entered a.b.C.run(C.java:7) before its instrumentation: arrays that it "
	  "allocates there are not counted until it returns" },
	{ WIRE_ALLOC_OLD_CODE, "a.b.C.run(C.java:7)", 1200,
	  "1,200 threads entered a.b.C.run(C.java:7) before its instrumentation: arrays that they "
	  "allocate there are not counted until they return" },
	{ WIRE_ALLOC_REFUSED, "hidden", 1,
	  "1 class was not instrumented, and arrays allocated there were not counted: hidden" },
	{ WIRE_ALLOC_REFUSED, "hidden", 12,
	  "12 classes were not instrumented, and arrays allocated there were not counted: hidden" },
	{ WIRE_ALLOC_FULL, "", 7,
	  "7 dropped: the memory limit is reached; raise it with --memory" },
	{ WIRE_ALLOC_FULL, "objects", 7,
	  "7 objects dropped: the memory limit is reached; raise it with --memory" },
	{ WIRE_ALLOC_NOT_LIVE, "the JVM ends", 0, "live objects were not counted: the JVM ends" },
	{ 4711, "later", 0, "later" },
	{ 4711, "later", 5, "later: 5" },
};

START_TEST(notes_are_sentences)
{
	char text[64];
	const struct alloc_note note = { notes[_i].note, text, notes[_i].n };
	struct buf out = BUF_INIT;

	(void)snprintf(text, sizeof(text), "%s", notes[_i].text);
	alloc_text_note(&out, &note);
	ck_assert_str_eq(buf_str(&out), notes[_i].expected);
	buf_release(&out);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("render/profile/alloc_view");
	TCase *tc = tcase_create("render/profile/alloc_view");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, sampled_profile_prints_estimates);
	tcase_add_test(tc, profile_without_samples_prints_no_estimate);
	tcase_add_test(tc, live_profile_prints_live_columns_first);
	tcase_add_test(tc, stacks_are_truncated_only_if_that_saves_lines);
	tcase_add_test(tc, control_characters_in_names_are_escaped);
	tcase_add_test(tc, sampled_profile_is_printed_as_json);
	tcase_add_test(tc, report_file_is_printed_as_json);
	tcase_add_loop_test(tc, notes_are_sentences, 0, (int)ARRAY_SIZE(notes));
	suite_add_tcase(suite, tc);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
