/* The table of activities: a reader never gets a row of two activities. */
#include "agent/weak/weak.h"
#include "jvm/activity.h"

static void begin_and_end_two(void)
{
	struct ag_activity *a = ag_activity_begin(1);

	ag_activity_end(&a);
	a = ag_activity_begin(2);
	ag_activity_end(&a);
}

/*
 * The request is the number of the thread, and so is the thread's offset in ns in clock_gettime()
 * of explore.c.  So times_match_requests() sees which thread has set the begin.
 */
static void begin_and_end(void)
{
	struct ag_activity *a = ag_activity_begin((uint16_t)weak_self());

	ag_activity_end(&a);
}

static void begin(void)
{
	(void)ag_activity_begin((uint16_t)weak_self()); /* it does not end during the test */
}

static void ids_match_requests(void)
{
	struct ag_activity_row row;
	uint32_t next = 0;

	while (ag_activity_next(&next, &row))
		WEAK_CHECK(row.id == row.request + 1u);
}

static void times_match_requests(void)
{
	struct ag_activity_row row;
	uint32_t next = 0;

	while (ag_activity_next(&next, &row))
		WEAK_CHECK(row.ns == weak_self() - row.request);
}

static void begin_until_asked(void)
{
	struct ag_activity *a = ag_activity_begin(1);

	(void)ag_activity_must_end(a);
	ag_activity_end(&a);
	a = ag_activity_begin(2);
	WEAK_CHECK(!ag_activity_must_end(a));
	ag_activity_end(&a);
}

static void ask_first(void)
{
	ag_activity_ask(2);
}

int main(void)
{
	static const struct weak_test tests[] = {
		{ "a row has the id and the request of one activity",
		  { begin_and_end_two, ids_match_requests }, NULL, NULL },
		{ "a row has the request and the time of one activity",
		  { begin_and_end, begin, times_match_requests }, NULL, NULL },
		{ "a request to end does not end the next activity",
		  { begin_until_asked, ask_first }, NULL, NULL },
		{ 0 },
	};
	static const struct weak_excuse excuses[] = {
		{ "claim compare &a->id: release", "the fence after it publishes CLAIMED" },
		{ "ag_activity_must_end load &a->asked: acquire", "nothing comes with the value" },
		{ "ag_activity_ask store &a->asked: release", "nothing comes with the value" },
		{ 0 },
	};

	return weak_run(tests, excuses);
}
