/* The notice of the pause to expect. */
#include <check.h>

#include "cmd/pause_note.h"

void cmd_print_notice(const struct cmd *cmd, const char *fmt, ...)
{
	(void)cmd;
	ck_abort_msg("printed off a terminal: %s", fmt);
}

static void assert_note(enum pause_kind kind, int64_t heap_used, bool is_bound,
			const char *expected)
{
	struct buf text = BUF_INIT;

	pause_note_add(&text, kind, heap_used, is_bound);
	ck_assert_str_eq(buf_str(&text), expected);
	buf_release(&text);
}

START_TEST(pause_follows_from_the_heap_in_use)
{
	assert_note(PAUSE_DUMP, INT64_C(2) << 30, false,
		    "the heap dump pauses the JVM, for about 2.8 s: 2.00 GiB of heap are in use");
	assert_note(PAUSE_COLLECTION, INT64_C(20) << 30, false,
		    "the full collection pauses the JVM, for about 21 s: 20.0 GiB of heap are in "
		    "use");
	assert_note(PAUSE_DUMP, INT64_C(2) << 30, true,
		    "the heap dump pauses the JVM, for about 2.8 s: at most 2.00 GiB of heap are "
		    "in use");
}
END_TEST

START_TEST(small_heaps_take_a_tenth_of_a_second_or_less)
{
	assert_note(PAUSE_DUMP, 0, false,
		    "the heap dump pauses the JVM, for about 0.1 s or less: 0 B of heap are in "
		    "use");
}
END_TEST

int main(void)
{
	Suite *s = suite_create("cmd/pause_note");
	TCase *tc = tcase_create("cmd/pause_note");
	SRunner *runner;
	int failed;

	tcase_add_test(tc, pause_follows_from_the_heap_in_use);
	tcase_add_test(tc, small_heaps_take_a_tenth_of_a_second_or_less);
	suite_add_tcase(s, tc);
	runner = srunner_create(s);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed > 0;
}
