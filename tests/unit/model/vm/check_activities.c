/* Activities of other clients of the agent: frames, and the names of commands. */
#include <check.h>
#include <errno.h>

#include "model/vm/activities.h"
#include "unit/support/payload.h"

static struct activities activities;

static void setup(void)
{
	activities = (struct activities){ 0 };
	activities_begin(&activities);
}

static void teardown(void)
{
	activities_release(&activities);
}

static void put_row(struct payload *p, uint32_t request, uint32_t recording, uint64_t ns)
{
	struct wire_writer *w = begin(p);

	wire_put_u32(w, request);
	wire_put_u32(w, recording);
	wire_put_u64(w, ns);
}

static int take(uint16_t type, const struct payload *p, size_t len)
{
	struct wire_reader r = wire_reader_init(p->data, len);

	return activities_take(&activities, type, &r);
}

static void take_row(uint32_t request, uint32_t recording, uint64_t ns)
{
	struct payload p;

	put_row(&p, request, recording, ns);
	ck_assert_int_eq(take(WIRE_ACTIVITY, &p, p.w.len), 0);
}

static int take_end(uint32_t n)
{
	struct payload p;

	wire_put_u32(begin(&p), n);
	return take(WIRE_ACTIVITIES_END, &p, p.w.len);
}

START_TEST(activities_of_several_agents_are_collected)
{
	take_row(WIRE_TRACE, 0, 12000000000);
	ck_assert_int_eq(take_end(1), 1);
	activities_begin(&activities);
	take_row(WIRE_HISTO, 0, 5);
	take_row(WIRE_ALLOC, 1, 7);
	ck_assert_int_eq(take_end(2), 1);
	ck_assert_uint_eq(activities.n, 3);
	ck_assert_str_eq(activity_command(&activities.list[0]), "trace");
	ck_assert(!activities.list[0].recording);
	ck_assert_uint_eq(activities.list[0].ns, 12000000000);
	ck_assert_str_eq(activity_command(&activities.list[1]), "heaphisto");
	ck_assert_str_eq(activity_command(&activities.list[2]), "alloc");
	ck_assert(activities.list[2].recording);
}
END_TEST

START_TEST(unknown_requests_have_a_name)
{
	take_row(60000, 0, 1);
	ck_assert_str_eq(activity_command(&activities.list[0]), "session");
}
END_TEST

START_TEST(wrong_counts_are_rejected)
{
	take_row(WIRE_TRACE, 0, 1);
	ck_assert_int_eq(take_end(0), -EBADMSG);
	ck_assert_int_eq(take_end(2), -EBADMSG);
}
END_TEST

START_TEST(incomplete_and_other_frames_are_rejected)
{
	struct payload p;

	put_row(&p, WIRE_TRACE, 0, 1);
	for (size_t len = 0; len < p.w.len; len++)
		ck_assert_int_eq(take(WIRE_ACTIVITY, &p, len), -EBADMSG);
	ck_assert_int_eq(take(WIRE_PATCH_ROW, &p, p.w.len), -EBADMSG);
	wire_put_u32(begin(&p), 0);
	for (size_t len = 0; len < p.w.len; len++)
		ck_assert_int_eq(take(WIRE_ACTIVITIES_END, &p, len), -EBADMSG);
	ck_assert_int_eq(take(WIRE_ACTIVITIES_END, &p, p.w.len), 1);
}
END_TEST

START_TEST(endless_rows_are_rejected)
{
	struct payload p;
	int rc = 0;

	put_row(&p, WIRE_TRACE, 0, 1);
	for (int i = 0; i < 1000000 && rc == 0; i++)
		rc = take(WIRE_ACTIVITY, &p, p.w.len);
	ck_assert_int_eq(rc, -EBADMSG);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("activities");
	TCase *tc = tcase_create("activities");
	SRunner *runner;
	int failed;

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, activities_of_several_agents_are_collected);
	tcase_add_test(tc, unknown_requests_have_a_name);
	tcase_add_test(tc, wrong_counts_are_rejected);
	tcase_add_test(tc, incomplete_and_other_frames_are_rejected);
	tcase_add_test(tc, endless_rows_are_rejected);
	suite_add_tcase(suite, tc);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}
