#include <string.h>

#include "discover/discover.h"
#include "discover/process_info.h"
#include "unit/support/shell.h"

/* A copy of tests/data/proc; check_discover.c describes its processes. */
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

static struct jvm *read_info(pid_t pid, struct process_info *info)
{
	struct err err = { .code = EXIT_DONE };
	struct jvm *jvm = discover_pid(&proc, pid, &err);

	ck_assert_msg(jvm != NULL, "%s", err.text);
	ck_assert_msg(process_info_read(&proc, jvm, info, &err) == 0, "%s", err.text);
	return jvm;
}

START_TEST(process_and_environment_are_described)
{
	struct process_info info;
	struct jvm *jvm;

	shell("ln -s /usr/lib/jvm/java-17-openjdk-amd64/bin/java 200/exe; ln -s /srv/app 200/cwd;"
	      "mkdir -p 1 && cp 200/stat 200/status 1");
	shell("printf 'A=b\\0JAVA_TOOL_OPTIONS=-Dx=1 -Xmx1g\\0' >200/environ;"
	      "printf '_JAVA_OPTIONS=\\0XJDK_JAVA_OPTIONS=no' >>200/environ");
	jvm = read_info(200, &info);
	ck_assert_str_eq(info.exe, "/usr/lib/jvm/java-17-openjdk-amd64/bin/java");
	ck_assert_str_eq(info.cwd, "/srv/app");
	ck_assert_str_eq(info.home, "/usr/lib/jvm/java-17-openjdk-amd64");
	ck_assert_str_eq(info.parent, "java");
	ck_assert_int_eq(info.usage.parent, 1);
	ck_assert_str_eq(info.options[PROCESS_TOOL_OPTIONS], "-Dx=1 -Xmx1g");
	ck_assert_ptr_null(info.options[PROCESS_JDK_OPTIONS]);
	ck_assert_str_eq(info.options[PROCESS_OLD_OPTIONS], "");
	ck_assert_double_gt(info.started, 0);
	ck_assert(!process_info_is_stopped(&info));
	ck_assert(info.agents.mapped_known);
	process_info_release(&info);
	jvm_free(jvm);
}
END_TEST

START_TEST(missing_values_are_unknown)
{
	struct process_info info;
	struct jvm *jvm;

	shell("rm 200/environ 200/cgroup");
	jvm = read_info(200, &info);
	ck_assert_ptr_null(info.exe);
	ck_assert_ptr_null(info.cwd);
	ck_assert_ptr_null(info.parent);
	for (size_t i = 0; i < N_PROCESS_OPTIONS; i++)
		ck_assert_ptr_null(info.options[i]);
	ck_assert_int_eq(info.cgroup.memory_limit, -1);
	ck_assert_int_eq(info.usage.memory.resident, -1);
	ck_assert_int_eq(info.usage.open_files, -1);
	process_info_release(&info);
	jvm_free(jvm);
}
END_TEST

/* JDK 8 has an architecture directory below lib.  The home is unknown in unusual layouts. */
START_TEST(java_home_is_derived_from_libjvm)
{
	static const char *const paths[][2] = {
		{ "/usr/lib/jvm/java-8/jre/lib/amd64/server/libjvm.so", "/usr/lib/jvm/java-8/jre" },
		{ "/opt/jdk/lib/server/libjvm.so", "/opt/jdk" },
		{ "/lib/server/libjvm.so", NULL },
		{ "/opt/jdk/libjvm.so", NULL },
	};
	struct process_info info;
	struct jvm *jvm;

	shell("sed -i 's,/.*libjvm.so,%s,' 200/maps", paths[_i][0]);
	jvm = read_info(200, &info);
	ck_assert_pstr_eq(info.home, paths[_i][1]);
	process_info_release(&info);
	jvm_free(jvm);
}
END_TEST

static void assert_attach_text(pid_t pid, const char *part)
{
	_cleanup_free_ char *text = NULL;
	struct process_info info;
	struct jvm *jvm = read_info(pid, &info);

	text = process_info_attach_text(&info, jvm);
	ck_assert_msg(strstr(text, part) != NULL, "%d: %s", (int)pid, text);
	process_info_release(&info);
	jvm_free(jvm);
}

START_TEST(attach_state_is_explained_with_its_reason)
{
	assert_attach_text(200, "would open its socket on request");
	assert_attach_text(500, "-Xrs");
	assert_attach_text(600, "does not catch SIGQUIT");
	assert_attach_text(700, "DisableAttachMechanism");
	assert_attach_text(800, "not HotSpot");
	shell("sed -i 's/^State:.*/State:\\tT (stopped)/' 200/status");
	assert_attach_text(200, "not while it is stopped");
}
END_TEST

START_TEST(reused_pid_is_an_error)
{
	struct err err = { .code = EXIT_DONE };
	struct jvm *jvm = discover_pid(&proc, 200, &err);
	struct process_info info;

	ck_assert_ptr_nonnull(jvm);
	jvm->start_ticks++;
	ck_assert_int_eq(process_info_read(&proc, jvm, &info, &err), -1);
	ck_assert_int_eq(err.code, EXIT_PARTIAL);
	jvm_free(jvm);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("discover/process_info");
	TCase *tc = tcase_create("discover/process_info");
	SRunner *sr = srunner_create(s);
	int failed;

	suite_add_tcase(s, tc);
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, process_and_environment_are_described);
	tcase_add_test(tc, missing_values_are_unknown);
	tcase_add_loop_test(tc, java_home_is_derived_from_libjvm, 0, 4);
	tcase_add_test(tc, attach_state_is_explained_with_its_reason);
	tcase_add_test(tc, reused_pid_is_an_error);
	srunner_run_all(sr, CK_NORMAL);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed != 0;
}
