#include <string.h>

#include "target/discover.h"
#include "target/vitals.h"
#include "shell.h"

/* A copy of tests/data/proc, as in check_discover.c. */
static struct procfs proc;

static void setup(void)
{
	const char *top = getenv("top_srcdir");
	_cleanup_free_ char *data = realpath(top ? top : ".", NULL);

	ck_assert_ptr_nonnull(mkdtemp(dir));
	shell("cp -R %s/tests/data/proc/. . && chmod -R u+w .", data);
	shell("sed -i 's/@UID@/%d/g; s/@GID@/%d/g' */status", (int)geteuid(), (int)getegid());
	shell("for pid in [1-9]*; do mkdir -p $pid/root/tmp; done");
	ck_assert_int_eq(procfs_open(&proc, dir), 0);
}

static void teardown(void)
{
	procfs_close(&proc);
	shell("rm -rf %s", dir);
}

static struct jvm *look(pid_t pid, struct vitals *v)
{
	struct err err = { .code = EXIT_DONE };
	struct jvm *jvm = discover_pid(&proc, pid, &err);

	ck_assert_msg(jvm != NULL, "%s", err.text);
	ck_assert_msg(vitals_read(&proc, jvm, v, &err) == 0, "%s", err.text);
	return jvm;
}

START_TEST(a_process_is_told_about)
{
	struct vitals v;
	struct jvm *jvm;

	shell("ln -s /usr/lib/jvm/java-17-openjdk-amd64/bin/java 200/exe; ln -s /srv/app 200/cwd;"
	      "mkdir -p 1 && cp 200/stat 200/status 1");
	shell("printf 'A=b\\0JAVA_TOOL_OPTIONS=-Dx=1 -Xmx1g\\0' >200/environ;"
	      "printf '_JAVA_OPTIONS=\\0XJDK_JAVA_OPTIONS=no' >>200/environ");
	jvm = look(200, &v);
	ck_assert_str_eq(v.exe, "/usr/lib/jvm/java-17-openjdk-amd64/bin/java");
	ck_assert_str_eq(v.cwd, "/srv/app");
	ck_assert_str_eq(v.home, "/usr/lib/jvm/java-17-openjdk-amd64");
	ck_assert_str_eq(v.parent, "java");
	ck_assert_int_eq(v.usage.parent, 1);
	ck_assert_str_eq(v.options[VITALS_TOOL_OPTIONS], "-Dx=1 -Xmx1g");
	ck_assert_ptr_null(v.options[VITALS_JDK_OPTIONS]);
	ck_assert_str_eq(v.options[VITALS_OLD_OPTIONS], "");
	ck_assert_double_gt(v.started, 0);
	ck_assert(!vitals_is_stopped(&v));
	ck_assert(v.agents.mapped_known);
	vitals_release(&v);
	jvm_free(jvm);
}
END_TEST

START_TEST(what_is_missing_is_left_out)
{
	struct vitals v;
	struct jvm *jvm;

	shell("rm 200/environ 200/cgroup");
	jvm = look(200, &v);
	ck_assert_ptr_null(v.exe);
	ck_assert_ptr_null(v.cwd);
	ck_assert_ptr_null(v.parent);
	for (size_t i = 0; i < N_VITALS_OPTIONS; i++)
		ck_assert_ptr_null(v.options[i]);
	ck_assert_int_eq(v.cgroup.memory_limit, -1);
	ck_assert_int_eq(v.usage.resident, -1);
	ck_assert_int_eq(v.usage.open_files, -1);
	vitals_release(&v);
	jvm_free(jvm);
}
END_TEST

/* A JDK 8 has an architecture below lib, a JDK that was built here no lib above it. */
START_TEST(home_is_where_libjvm_is)
{
	static const char *const paths[][2] = {
		{ "/usr/lib/jvm/java-8/jre/lib/amd64/server/libjvm.so", "/usr/lib/jvm/java-8/jre" },
		{ "/opt/jdk/lib/server/libjvm.so", "/opt/jdk" },
		{ "/lib/server/libjvm.so", NULL },
		{ "/opt/jdk/libjvm.so", NULL },
	};
	struct vitals v;
	struct jvm *jvm;

	shell("sed -i 's,/.*libjvm.so,%s,' 200/maps", paths[_i][0]);
	jvm = look(200, &v);
	ck_assert_pstr_eq(v.home, paths[_i][1]);
	vitals_release(&v);
	jvm_free(jvm);
}
END_TEST

static void check_words(pid_t pid, const char *part)
{
	_cleanup_free_ char *words = NULL;
	struct vitals v;
	struct jvm *jvm = look(pid, &v);

	words = vitals_attach_words(&v, jvm);
	ck_assert_msg(strstr(words, part) != NULL, "%d: %s", (int)pid, words);
	vitals_release(&v);
	jvm_free(jvm);
}

START_TEST(attaching_is_told_in_words)
{
	check_words(200, "would open its socket");
	check_words(500, "-Xrs");
	check_words(600, "does not catch SIGQUIT");
	check_words(700, "DisableAttachMechanism");
	check_words(800, "no HotSpot");
	shell("sed -i 's/^State:.*/State:\\tT (stopped)/' 200/status");
	check_words(200, "not while it is stopped");
}
END_TEST

START_TEST(another_process_is_not_it)
{
	struct err err = { .code = EXIT_DONE };
	struct jvm *jvm = discover_pid(&proc, 200, &err);
	struct vitals v;

	ck_assert_ptr_nonnull(jvm);
	jvm->start_ticks++;
	ck_assert_int_eq(vitals_read(&proc, jvm, &v, &err), -1);
	ck_assert_int_eq(err.code, EXIT_PARTIAL);
	jvm_free(jvm);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("vitals");
	TCase *tc = tcase_create("vitals");
	SRunner *sr = srunner_create(s);
	int failed;

	suite_add_tcase(s, tc);
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, a_process_is_told_about);
	tcase_add_test(tc, what_is_missing_is_left_out);
	tcase_add_loop_test(tc, home_is_where_libjvm_is, 0, 4);
	tcase_add_test(tc, attaching_is_told_in_words);
	tcase_add_test(tc, another_process_is_not_it);
	srunner_run_all(sr, CK_NORMAL);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed != 0;
}
