/* Reports of allocation recordings: complete, truncated, damaged and invalid. */
#include <check.h>
#include <string.h>

#include "base/xalloc.h"
#include "model/profile/alloc_report.h"

#define BEGIN "# jtool allocations 1\n# version 1\n# pid 12\n"
#define SAMPLED BEGIN "# mode sampled\n# interval 524288\n# depth 10\n"

static const char complete[] =
	SAMPLED
	"# estimator a sample stands for 1/p objects\n"
	"# live 3\n"
	"# begin 0.005\n"
	"# seconds 12.345\n"
	"# samples 30\n"
	"# bytes 15000000\n"
	"# dropped 2\n"
	"# collections 4\n"
	"# classes 5 6\n"
	"# paused 1.002\n"
	"# key of a later version\n"
	"# note 3 2 \n"
	"# note 1 7 a.b.C.loop()\n"
	"# sites 3 9\n"
	"# OBJECTS BYTES SAMPLES LIVE_OBJECTS LIVE_BYTES CLASS\n"
	"1000 24000 20 10 240 a.b.C$D\n"
	"\tat a.b.C.make(C.java:12)\n"
	"\tat a.b.C.main(C.java:3)\n"
	"5 120 2 0 0 int[][]\n"
	"1 24 1 1 24 a.b.C$D\n"
	"\tat a.b.C.it works(C.kt:4)\n"
	"\tat a.b.C.main(C.java:3)\n"
	"# end 3\n";

static int read_text(struct alloc *a, const char *text, size_t len, size_t *line)
{
	/* A copy of exact length: ASan detects reads past the end. */
	_cleanup_free_ char *copy = xmalloc(len + 1);
	int rc;

	memcpy(copy, text, len);
	copy[len] = '!';
	*a = (struct alloc){ 0 };
	rc = alloc_report_read(a, copy, len, line);
	return rc;
}

static void check_site(const struct alloc *a, size_t i, const char *class, uint64_t objects,
		       uint64_t live_bytes, uint32_t n_frames)
{
	const struct alloc_site *site = &a->sites[i];

	ck_assert_str_eq(a->kinds[site->kind], class);
	ck_assert_uint_eq(site->objects, objects);
	ck_assert_uint_eq(site->bytes, objects * 24);
	ck_assert_uint_eq(site->live_bytes, live_bytes);
	ck_assert_uint_eq(site->live_objects, live_bytes / 24);
	ck_assert_uint_eq(site->n_frames, n_frames);
}

START_TEST(complete_report_is_read)
{
	struct alloc a;
	size_t line;

	ck_assert(alloc_report_is(complete, strlen(complete)));
	ck_assert_int_eq(read_text(&a, complete, strlen(complete), &line), 0);
	ck_assert(a.begun && a.ended);
	ck_assert_uint_eq(a.end, WIRE_ALLOCED_ON);
	ck_assert_uint_eq(a.flags, WIRE_ALLOC_LIVE);
	ck_assert_uint_eq(a.begin_ns, 5000000);
	ck_assert_uint_eq(a.live_ns, 1002000000);
	ck_assert_uint_eq(a.hooked, 5);
	ck_assert_uint_eq(a.refused, 6);
	ck_assert_uint_eq(a.depth, 10);
	ck_assert_uint_eq(a.state.ns, 12345000000);
	ck_assert_uint_eq(a.state.samples, 30);
	ck_assert_uint_eq(a.state.bytes, 15000000);
	ck_assert_uint_eq(a.state.dropped, 2);
	ck_assert_uint_eq(a.state.interval, 524288);
	ck_assert_uint_eq(a.state.collections, 4);
	ck_assert_uint_eq(a.state.sites, 9);
	ck_assert_uint_eq(a.n_notes, 2);
	ck_assert_uint_eq(a.notes[0].note, WIRE_ALLOC_FULL);
	ck_assert_uint_eq(a.notes[0].n, 2);
	ck_assert_str_eq(a.notes[0].text, "");
	ck_assert_uint_eq(a.notes[1].note, WIRE_ALLOC_OLD_CODE);
	ck_assert_str_eq(a.notes[1].text, "a.b.C.loop()");
	ck_assert_uint_eq(a.n, 3);
	ck_assert_uint_eq(a.n_kinds, 2);
	ck_assert_uint_eq(a.frames.n, 3);
	check_site(&a, 0, "a.b.C$D", 1000, 240, 2);
	check_site(&a, 1, "int[][]", 5, 0, 0);
	check_site(&a, 2, "a.b.C$D", 1, 24, 2);
	ck_assert_str_eq(a.frames.texts[a.sites[2].frames[0]], "a.b.C.it works(C.kt:4)");
	ck_assert_uint_eq(a.sites[0].frames[1], a.sites[2].frames[1]);
	alloc_release(&a);
}
END_TEST

START_TEST(report_cut_at_every_byte_is_rejected)
{
	for (size_t len = 0; len < strlen(complete); len++) {
		struct alloc a;
		size_t line;

		ck_assert_msg(read_text(&a, complete, len, &line) < 0, "cut at %zu", len);
		ck_assert_uint_le(line, 30);
		alloc_release(&a);
	}
}
END_TEST

/* Whichever byte is damaged, the result has at most 3 sites and is released. */
START_TEST(damage_of_any_byte_is_handled)
{
	static const char others[] = { '\0', '\n', ' ', '9', '#', '\t', -1 };

	for (size_t i = 0; i < strlen(complete); i++) {
		for (size_t k = 0; k < sizeof(others); k++) {
			char text[sizeof(complete)];
			struct alloc a;
			size_t line;

			memcpy(text, complete, sizeof(text));
			text[i] = others[k];
			if (read_text(&a, text, strlen(complete), &line) == 0)
				ck_assert_uint_le(a.n, 3);
			alloc_release(&a);
		}
	}
}
END_TEST

static const struct {
	const char *text;
	size_t line; /* number of the rejected line, from 1; 0: the report is valid */
} texts[] = {
	{ BEGIN "# mode exact\n# end 0\n", 0 },
	{ BEGIN "# mode exact\n1 2 3 - - a.B\n# end 1\n", 0 },
	{ BEGIN "# mode exact\n18446744073709551615 2 3 - - a.B\n# end 1\n", 0 },
	{ "# jtool allocations 2\n# mode exact\n# end 0\n", 1 },
	{ "", 1 },
	{ BEGIN "# end 0\n", 4 },
	{ BEGIN "1 2 3 - - a.B\n# end 1\n", 4 },
	{ BEGIN "# mode guessed\n# end 0\n", 4 },
	{ BEGIN "# mode exact\n# end 0", 5 },
	{ BEGIN "# mode exact\n# end 0 \n", 0 },
	{ BEGIN "# mode exact\n# end 1\n", 5 },
	{ BEGIN "# mode exact\n# end 0\n\n", 5 },
	{ BEGIN "# mode exact\n# end 0\n# end 0\n", 5 },
	{ BEGIN "# mode exact\n\tat a.b()\n# end 0\n", 5 },
	{ BEGIN "# mode exact\n1 2 3 0 0 a.B\n# end 1\n", 5 },
	{ BEGIN "# mode exact\n# live 0\n1 2 3 - - a.B\n# end 1\n", 6 },
	{ BEGIN "# mode exact\n1 2 3 - - \n# end 1\n", 5 },
	{ BEGIN "# mode exact\n1 2 -3 - - a.B\n# end 1\n", 5 },
	{ BEGIN "# mode exact\n18446744073709551616 2 3 - - a.B\n# end 1\n", 5 },
	{ BEGIN "# mode exact\n1 2 3 - - a.B\n# live 1\n# end 1\n", 6 },
	{ BEGIN "# mode exact\n1 2 3 - - a.B\n\tat \n# end 1\n", 6 },
	{ BEGIN "# mode exact\n# seconds 1.5\n# end 0\n", 5 },
	{ BEGIN "# mode exact\n# seconds 15\n# end 0\n", 5 },
	{ BEGIN "# mode exact\n# seconds 99999999999999999999.000\n# end 0\n", 5 },
	{ BEGIN "# mode exact\n# collections 4294967296\n# end 0\n", 5 },
};

START_TEST(errors_are_reported_with_their_line)
{
	struct alloc a;
	size_t line;
	int rc = read_text(&a, texts[_i].text, strlen(texts[_i].text), &line);

	ck_assert_int_eq(rc == 0, texts[_i].line == 0);
	if (rc < 0)
		ck_assert_uint_eq(line, texts[_i].line);
	alloc_release(&a);
}
END_TEST

/* A stack has at most 64 frames, the depth that the agent walks. */
START_TEST(stack_depth_is_limited)
{
	_cleanup_buf_ struct buf text = BUF_INIT;
	struct alloc a;
	size_t line;

	buf_adds(&text, BEGIN "# mode exact\n1 2 3 - - a.B\n");
	for (int i = 0; i < 64 + _i; i++)
		buf_addf(&text, "\tat a.B.m%d(B.java)\n", i);
	buf_adds(&text, "# end 1\n");
	ck_assert_int_eq(read_text(&a, buf_str(&text), text.len, &line) == 0, _i == 0);
	alloc_release(&a);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("model/profile/alloc_report");
	TCase *tc = tcase_create("model/profile/alloc_report");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_add_test(tc, complete_report_is_read);
	tcase_add_test(tc, report_cut_at_every_byte_is_rejected);
	tcase_add_test(tc, damage_of_any_byte_is_handled);
	tcase_add_loop_test(tc, errors_are_reported_with_their_line, 0, ARRAY_SIZE(texts));
	tcase_add_loop_test(tc, stack_depth_is_limited, 0, 2);
	suite_add_tcase(suite, tc);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}
