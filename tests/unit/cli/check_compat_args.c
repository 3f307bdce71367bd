/* Command lines in the syntax of other tools are rewritten. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "cli/compat_args.h"

#define WORDS_MAX 8

/* Rewrites the words of `line` and compares them, joined by spaces. */
static void assert_rewritten(const char *line, const char *expected)
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
	words = compat_args(argc, argv, &n);
	for (int i = 0; i < n; i++)
		buf_addf(&joined, "%s%s", i ? " " : "", words[i]);
	ck_assert_str_eq(buf_str(&joined), expected);
}

START_TEST(jtool_syntax_is_unchanged)
{
	assert_rewritten("list", "list");
	assert_rewritten("jcmd 42 VM.version", "jcmd 42 VM.version");
	assert_rewritten("op 42 load x true y", "op 42 load x true y");
	assert_rewritten("jcmd Main 42", "jcmd Main 42");
}
END_TEST

START_TEST(shorthands_become_options)
{
	assert_rewritten("leaks", "retained --suspects");
	assert_rewritten("dominators 42 -n 5", "retained --tree 42 -n 5");
	assert_rewritten("42 leaks --json", "retained --suspects 42 --json");
	assert_rewritten("jcmd 42 leaks", "jcmd 42 leaks");
	ck_assert_str_eq(compat_command("dominators"), "retained");
	ck_assert_str_eq(compat_command("list"), "list");
}
END_TEST

START_TEST(jstat_groups_become_options)
{
	assert_rewritten("stat -gcutil 42 1000 5", "stat -t gcutil 42 1000 5");
	assert_rewritten("jstat -gc 42", "jstat -t gc 42");
	assert_rewritten("stat 42 -class", "stat 42 -t class");
	assert_rewritten("jstat -gcmetacapacity 42", "jstat -t gcmetacapacity 42");
	assert_rewritten("stat -t gc 42", "stat -t gc 42");
	assert_rewritten("stat -tgc -v 42 --json", "stat -tgc -v 42 --json");
	assert_rewritten("jcmd 42 -gc", "jcmd 42 -gc");
}
END_TEST

START_TEST(options_of_jmap_and_jinfo_become_commands)
{
	assert_rewritten("jmap -histo 42", "heaphisto 42");
	assert_rewritten("jmap -histo:live 42 -n 5", "heaphisto --live 42 -n 5");
	assert_rewritten("jmap -dump:format=b,file=a.hprof 42", "heapdump --all 42 a.hprof");
	assert_rewritten("jmap -dump:live,file=a=b,gz=5 Main", "heapdump --gzip=5 Main a=b");
	assert_rewritten("jmap -clstats 42", "jcmd 42 VM.classloader_stats");
	assert_rewritten("jmap -finalizerinfo 42", "jcmd 42 GC.finalizer_info");
	assert_rewritten("jmap -heap 42", "info 42");
	assert_rewritten("jinfo -flags 42", "flags 42");
	assert_rewritten("jinfo -sysprops 42", "props 42");
	assert_rewritten("jinfo -flag +HeapDumpOnOutOfMemoryError 42",
			 "flags 42 +HeapDumpOnOutOfMemoryError");
	assert_rewritten("jinfo 42", "jinfo 42");
	/* jtool has no counterpart of these commands: the words are unchanged. */
	assert_rewritten("jmap 42", "jmap 42");
	assert_rewritten("jmap -dump:live 42", "jmap -dump:live 42");
	assert_rewritten("jmap -histogram 42", "jmap -histogram 42");
	assert_rewritten("jmap -dump:gz=0 42", "jmap -dump:gz=0 42");
	/* The word is cut in place, but no command follows from it. */
	assert_rewritten("jmap -dump:file=a,gz=10 42", "jmap -dump:file=a 42");
	assert_rewritten("jmap -histo:gz=x 42", "jmap -histo:gz=x 42");
}
END_TEST

START_TEST(jcmd_without_a_target_is_list)
{
	assert_rewritten("jcmd", "list -lm");
	assert_rewritten("jcmd -l", "list -lm");
	assert_rewritten("jcmd 42", "jcmd 42");
	assert_rewritten("jcmd --json", "jcmd --json");
}
END_TEST

START_TEST(leading_pid_moves_after_the_command)
{
	assert_rewritten("42", "info 42");
	assert_rewritten("42 jcmd", "jcmd 42");
	assert_rewritten("42 jcmd GC.class_histogram -all", "jcmd 42 GC.class_histogram -all");
	assert_rewritten("42 heaphisto -n 5", "heaphisto 42 -n 5");
	assert_rewritten("4x jcmd", "4x jcmd");
}
END_TEST

START_TEST(attach_operations_become_op)
{
	assert_rewritten("42 threaddump -l", "op 42 threaddump -l");
	assert_rewritten("42 printflag MaxHeapSize", "op 42 printflag MaxHeapSize");
	assert_rewritten("42 properties", "op 42 properties");
}
END_TEST

START_TEST(jattach_load_becomes_load)
{
	assert_rewritten("42 load", "load 42");
	assert_rewritten("42 load a.so", "load 42 a.so");
	assert_rewritten("42 load a.so x=y", "load 42 a.so x=y");
	assert_rewritten("42 load /a.so true", "load 42 /a.so");
	assert_rewritten("42 load /a.so true x=y", "load 42 /a.so x=y");
	assert_rewritten("42 load zip false", "load 42 zip");
	assert_rewritten("42 load instrument false", "load 42 instrument");
	assert_rewritten("42 load instrument false a.jar", "load 42 a.jar");
	assert_rewritten("42 load instrument false a.jar=b=c", "load 42 a.jar b=c");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("cli/compat_args");
	TCase *words = tcase_create("cli/compat_args");
	SRunner *runner;
	int failed;

	tcase_add_test(words, jtool_syntax_is_unchanged);
	tcase_add_test(words, shorthands_become_options);
	tcase_add_test(words, jstat_groups_become_options);
	tcase_add_test(words, options_of_jmap_and_jinfo_become_commands);
	tcase_add_test(words, jcmd_without_a_target_is_list);
	tcase_add_test(words, leading_pid_moves_after_the_command);
	tcase_add_test(words, attach_operations_become_op);
	tcase_add_test(words, jattach_load_becomes_load);
	suite_add_tcase(suite, words);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
