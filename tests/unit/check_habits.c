/* Command lines as users of other tools write them. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "habits.h"

#define WORDS_MAX 8

/* The words of `line`, rewritten and joined by blanks. */
static void expect(const char *line, const char *expected)
{
	_cleanup_free_ char *copy = strdup(line);
	_cleanup_free_ char **words = NULL;
	_cleanup_buf_ struct buf joined = BUF_INIT;
	char *argv[WORDS_MAX + 1] = { NULL };
	int argc = 0, n;

	for (char *rest = copy; rest;) {
		ck_assert_int_lt(argc, WORDS_MAX);
		argv[argc++] = strsep(&rest, " ");
	}
	words = habits_words(argc, argv, &n);
	for (int i = 0; i < n; i++)
		buf_addf(&joined, "%s%s", i ? " " : "", words[i]);
	ck_assert_str_eq(buf_str(&joined), expected);
}

START_TEST(own_order_stays)
{
	expect("list", "list");
	expect("jcmd 42 VM.version", "jcmd 42 VM.version");
	expect("op 42 load x true y", "op 42 load x true y");
	expect("jcmd Main 42", "jcmd Main 42");
}
END_TEST

START_TEST(groups_of_jstat)
{
	expect("stat -gcutil 42 1000 5", "stat -tgcutil 42 1000 5");
	expect("jstat -gc 42", "jstat -tgc 42");
	expect("stat 42 -class", "stat 42 -tclass");
	expect("stat -t gc 42", "stat -t gc 42");
	expect("jcmd 42 -gc", "jcmd 42 -gc");
}
END_TEST

START_TEST(pid_first)
{
	expect("42", "info 42");
	expect("42 jcmd", "jcmd 42");
	expect("42 jcmd GC.class_histogram -all", "jcmd 42 GC.class_histogram -all");
	expect("42 heaphisto -n 5", "heaphisto 42 -n 5");
	expect("4x jcmd", "4x jcmd");
}
END_TEST

START_TEST(operations)
{
	expect("42 threaddump -l", "op 42 threaddump -l");
	expect("42 printflag MaxHeapSize", "op 42 printflag MaxHeapSize");
	expect("42 properties", "op 42 properties");
}
END_TEST

START_TEST(load_of_jattach)
{
	expect("42 load", "load 42");
	expect("42 load a.so", "load 42 a.so");
	expect("42 load a.so x=y", "load 42 a.so x=y");
	expect("42 load /a.so true", "load 42 /a.so");
	expect("42 load /a.so true x=y", "load 42 /a.so x=y");
	expect("42 load zip false", "load 42 zip");
	expect("42 load instrument false", "load 42 instrument");
	expect("42 load instrument false a.jar", "load 42 a.jar");
	expect("42 load instrument false a.jar=b=c", "load 42 a.jar b=c");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("habits");
	TCase *words = tcase_create("words");
	SRunner *runner;
	int failed;

	tcase_add_test(words, own_order_stays);
	tcase_add_test(words, groups_of_jstat);
	tcase_add_test(words, pid_first);
	tcase_add_test(words, operations);
	tcase_add_test(words, load_of_jattach);
	suite_add_tcase(suite, words);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
