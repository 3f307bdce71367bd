/* Activities of sessions: another session lists them, and asks them to end. */
#include <check.h>

#include "agent/fake/jvm_core.h"
#include "agent/fake/peer.h"
#include "cmd/command.h"
#include "jvm/activity.h"

#define MANY 200 /* more than the table has */

static struct ag_mem mem;
static struct ag_jvm jvm;
static struct ag_chan chan;
static struct peer client;

static struct {
	unsigned rows, ends, traces;
	uint32_t n;
} heard;

static void setup(void)
{
	mem = (struct ag_mem){ .budget = (size_t)1 << 20 };
	jvm = (struct ag_jvm){ .mem = &mem };
	peer_open(&client, &chan, &mem);
}

static void hear_one(uint16_t type, struct wire_reader *r)
{
	if (type == WIRE_ACTIVITIES_END) {
		heard.ends++;
		heard.n = wire_get_u32(r);
		return;
	}
	ck_assert_uint_eq(type, WIRE_ACTIVITY);
	heard.rows++;
	heard.traces += wire_get_u32(r) == WIRE_TRACE;
	ck_assert_uint_eq(wire_get_u32(r), 0);
	ck_assert_uint_lt(wire_get_u64(r), 60000000000u);
}

static int answer(uint32_t flags, size_t len)
{
	uint8_t data[4];
	struct wire_writer w = wire_writer_init(data, sizeof(data));
	struct wire_reader r = wire_reader_init(data, len);
	int rc;

	wire_put_u32(&w, flags);
	memset(&heard, 0, sizeof(heard));
	client.n_unread = 0;
	rc = ag_cmd_activities(&jvm, &chan, &r);
	(void)ag_chan_flush(&chan);
	peer_receive(&client, hear_one);
	return rc;
}

static void lists(unsigned n, unsigned traces, uint32_t flags)
{
	ck_assert_int_eq(answer(flags, 4), 0);
	ck_assert_uint_eq(heard.ends, 1);
	ck_assert_uint_eq(heard.rows, n);
	ck_assert_uint_eq(heard.n, n);
	ck_assert_uint_eq(heard.traces, traces);
}

START_TEST(requests_are_listed_until_they_end)
{
	struct ag_activity *trace, *histo;

	lists(0, 0, 0);
	trace = ag_activity_begin(WIRE_TRACE);
	histo = ag_activity_begin(WIRE_HISTO);
	lists(2, 1, 0);
	ag_activity_end(&trace);
	ck_assert_ptr_null(trace);
	lists(1, 0, 0);
	ag_activity_end(&histo);
	ag_activity_end(&histo);
	lists(0, 0, 0);
}
END_TEST

START_TEST(only_what_runs_is_asked_to_end)
{
	struct ag_activity *first = ag_activity_begin(WIRE_TRACE), *later;

	lists(1, 1, 0);
	ck_assert(!ag_activity_must_end(first));
	lists(1, 1, WIRE_ACTIVITIES_FORCE);
	ck_assert(ag_activity_must_end(first));
	ck_assert(!ag_activity_must_end(NULL));
	ag_activity_end(&first);
	later = ag_activity_begin(WIRE_TRACE); /* in the same slot of the table */
	ck_assert(!ag_activity_must_end(later));
	ag_activity_end(&later);
}
END_TEST

START_TEST(full_table_lists_what_it_has)
{
	struct ag_activity *all[MANY];
	unsigned n = 0;

	for (unsigned i = 0; i < MANY; i++) {
		all[i] = ag_activity_begin(WIRE_TRACE);
		n += all[i] != NULL;
	}
	ck_assert_uint_ge(n, 50);
	ck_assert_uint_lt(n, MANY);
	lists(n, n, 0);
	for (unsigned i = 0; i < MANY; i++)
		ag_activity_end(&all[i]);
	lists(0, 0, 0);
}
END_TEST

START_TEST(invalid_requests_are_rejected)
{
	ck_assert_int_eq(answer(2, 4), -1);
	ck_assert_ptr_nonnull(jvm.err.what);
	for (size_t len = 0; len < 4; len++)
		ck_assert_int_eq(answer(0, len), -1);
	ck_assert_uint_eq(heard.ends + heard.rows, 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("agent/cmd/activities");
	TCase *tc = tcase_create("activities");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_add_checked_fixture(tc, setup, NULL);
	tcase_add_test(tc, requests_are_listed_until_they_end);
	tcase_add_test(tc, only_what_runs_is_asked_to_end);
	tcase_add_test(tc, full_table_lists_what_it_has);
	tcase_add_test(tc, invalid_requests_are_rejected);
	suite_add_tcase(suite, tc);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}
