#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "model/vm/dcmd_file.h"

/* Finds the file, and returns the line with the path P in its place; the caller frees it. */
static char *replaced(const char *line, const char *path, const char *expected_path, bool input)
{
	struct err err = { .code = EXIT_DONE };
	struct buf out = BUF_INIT;
	struct dcmd_file file;

	ck_assert_int_eq(dcmd_file_find(line, &file, &err), 0);
	ck_assert_uint_gt(file.len, 0);
	ck_assert_str_eq(file.path, expected_path);
	ck_assert_int_eq(file.is_input, input);
	dcmd_file_replace(&out, line, &file, path);
	dcmd_file_release(&file);
	return buf_take(&out);
}

static const struct {
	const char *line, *path;
	bool input;
	const char *result; /* with the path P */
} found[] = {
	{ "Thread.dump_to_file {a.txt}", "a.txt", false, "Thread.dump_to_file P" },
	{ "Thread.dump_to_file -format=json {/tmp/a b.txt}", "/tmp/a b.txt", false,
	  "Thread.dump_to_file -format=json P" },
	{ "Thread.dump_to_file {a}b} -overwrite", "a}b", false,
	  "Thread.dump_to_file P -overwrite" },
	{ "JFR.dump name=x filename={-}", "-", false, "JFR.dump name=x filename=P" },
	{ "JFR.stop filename={a=b.jfr} name=x", "a=b.jfr", false, "JFR.stop filename=P name=x" },
	{ "System.dump_map -F={map}", "map", false, "System.dump_map -F=P" },
	{ "VM.cds static_dump {a.jsa}", "a.jsa", false, "VM.cds static_dump P" },
	{ "GC.heap_dump -all {FILE}", "FILE", false, "GC.heap_dump -all P" },
	{ "Compiler.directives_add {d.json}", "d.json", true, "Compiler.directives_add P" },
	{ "JFR.start name=x settings={s.jfc}", "s.jfc", true, "JFR.start name=x settings=P" },
};

START_TEST(braces_are_replaced_by_the_path)
{
	char *line = replaced(found[_i].line, "P", found[_i].path, found[_i].input);

	ck_assert_str_eq(line, found[_i].result);
	free(line);
}
END_TEST

START_TEST(path_with_a_blank_is_quoted)
{
	char *line = replaced("System.dump_map -F={m}", "/a b/c", "m", false);

	ck_assert_str_eq(line, "System.dump_map -F=\"/a b/c\"");
	free(line);
}
END_TEST

static const char *const plain[] = {
	"", "help", "VM.version", "{x}", "Thread.dump_to_file a{b}", "VM.log what=\"{x}\"",
	"VM.log what={x", "VM.log what={x}y",
};

START_TEST(other_braces_belong_to_the_jvm)
{
	struct err err = { .code = EXIT_DONE };
	struct dcmd_file file;

	ck_assert_int_eq(dcmd_file_find(plain[_i], &file, &err), 0);
	ck_assert_uint_eq(file.len, 0);
	dcmd_file_release(&file);
}
END_TEST

static const struct {
	const char *line, *message;
} refused[] = {
	{ "GC.heap_dump {}", "invalid file '{}': " },
	{ "GC.heap_dump {a} {b}", "two files in braces: " },
	{ "VM.log output={a.log}", "VM.log cannot use 'a.log', a file of yours: the JVM goes on " },
	{ "JFR.start filename={a.jfr}", "JFR.start cannot use 'a.jfr', a file of yours: the JVM " },
	{ "JVMTI.agent_load {a.so}", "JVMTI.agent_load cannot use 'a.so', a file of yours: use " },
	{ "JFR.dump name={a}", "unknown use of file 'a' by 'JFR.dump': jtool knows Compiler." },
	{ "VM.flags {a}", "unknown use of file 'a' by 'VM.flags': jtool knows Compiler." },
};

START_TEST(unknown_uses_are_refused)
{
	struct err err = { .code = EXIT_DONE };
	struct dcmd_file file;

	ck_assert_int_eq(dcmd_file_find(refused[_i].line, &file, &err), -1);
	ck_assert_int_eq(err.code, EXIT_USAGE);
	ck_assert_mem_eq(err.text, refused[_i].message, strlen(refused[_i].message));
	dcmd_file_release(&file);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("model/vm/dcmd_file");
	TCase *tc = tcase_create("model/vm/dcmd_file");
	SRunner *sr = srunner_create(s);
	int failed;

	suite_add_tcase(s, tc);
	tcase_add_loop_test(tc, braces_are_replaced_by_the_path, 0, (int)ARRAY_SIZE(found));
	tcase_add_test(tc, path_with_a_blank_is_quoted);
	tcase_add_loop_test(tc, other_braces_belong_to_the_jvm, 0, (int)ARRAY_SIZE(plain));
	tcase_add_loop_test(tc, unknown_uses_are_refused, 0, (int)ARRAY_SIZE(refused));
	srunner_run_all(sr, CK_NORMAL);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed != 0;
}
