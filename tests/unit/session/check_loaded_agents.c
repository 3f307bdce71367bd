#include <string.h>

#include "session/loaded_agents.h"
#include "unit/support/shell.h"

#define HASH "0123456789abcdef"

/* A fake /proc with process 1. */
static struct jvm jvm = { .pid = 1, .nspid = 1 };
static struct target_ns ns = { .jvm = &jvm };
static struct loaded_agents agents;
static struct err err;

static void setup(void)
{
	ck_assert_ptr_nonnull(mkdtemp(dir));
	shell("mkdir 1");
	ck_assert_int_eq(procfs_open(&ns.proc, dir), 0);
	agents = (struct loaded_agents){ 0 };
	err = (struct err){ 0 };
}

static void teardown(void)
{
	loaded_agents_release(&agents);
	procfs_close(&ns.proc);
	shell("rm -r %s", dir);
}

static void add_mapping(const char *perms, const char *path)
{
	shell("echo '1000-2000 %s 00000000 fe:00 7   %s' >>1/maps", perms, path);
}

static void assert_found(size_t n)
{
	ck_assert_int_eq(loaded_agents_find(&ns, &agents, &err), 0);
	ck_assert_uint_eq(agents.n, n);
}

START_TEST(each_mapped_agent_is_listed_once)
{
	add_mapping("r--p", "/tmp/.jtool-0-1/jtool-agent-" HASH ".so (deleted)");
	add_mapping("r-xp", "/tmp/.jtool-0-1/jtool-agent-" HASH ".so (deleted)");
	add_mapping("r-xp", "/lib/libjvm.so");
	add_mapping("r-xp", "/lib/libc.so.6");
	add_mapping("r-xp", "/tmp/.jtool-0-1/jtool-agent-" HASH ".so (deleted)");
	add_mapping("r-xp", "/a dir/jtool-agent-fedcba9876543210.so");
	assert_found(2);
	ck_assert(!agents.musl);
	ck_assert_str_eq(agents.paths[0], "/tmp/.jtool-0-1/jtool-agent-" HASH ".so");
	ck_assert_str_eq(agents.paths[1], "/a dir/jtool-agent-fedcba9876543210.so");
	ck_assert_str_eq(loaded_agents_named(&agents, "jtool-agent-fedcba9876543210.so"),
			 agents.paths[1]);
	ck_assert_ptr_null(loaded_agents_named(&agents, "jtool-agent-0000000000000000.so"));
}
END_TEST

START_TEST(paths_are_relative_to_the_root_of_the_target)
{
	shell("ln -s /var/box 1/root");
	add_mapping("r-xp", "/var/box/tmp/jtool-agent-" HASH ".so (deleted)");
	assert_found(1);
	ck_assert_str_eq(agents.paths[0], "/tmp/jtool-agent-" HASH ".so");
}
END_TEST

START_TEST(other_file_names_are_ignored)
{
	static const char *const names[] = {
		"jtool-agent-.so", "jtool-agent-" HASH, "jtool-agent-" HASH "0.so",
		"xjtool-agent-" HASH ".so", "jtool-agent-" HASH ".so.1", "jtool-agent-0.so",
		"jtool-agent-0123456789ABCDEF.so", "jtool-agent-" HASH ".so/x",
	};
	char path[100];

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		(void)snprintf(path, sizeof(path), "/tmp/%s", names[i]);
		add_mapping("r-xp", path);
	}
	add_mapping("rw-p", "/tmp/jtool-agent-" HASH ".so"); /* not mapped by the dynamic linker */
	assert_found(0);
}
END_TEST

START_TEST(number_of_agents_is_limited)
{
	shell("for i in $(seq -w 10000); do "
	      "echo \"1-2 r-xp 0 fe:00 7 /tmp/jtool-agent-00000000000$i.so\"; "
	      "done >1/maps");
	ck_assert_int_eq(loaded_agents_find(&ns, &agents, &err), 0);
	ck_assert_uint_lt(agents.n, 100);
}
END_TEST

START_TEST(musl_is_recognised)
{
	static const char *const libraries[] = { "/lib/ld-musl-x86_64.so.1", "/usr/lib/libc.so" };

	add_mapping("r-xp", libraries[_i]);
	assert_found(0);
	ck_assert(agents.musl);
}
END_TEST

START_TEST(exited_target_is_an_error)
{
	ck_assert_int_eq(loaded_agents_find(&ns, &agents, &err), -1);
	ck_assert_int_eq(err.code, EXIT_PARTIAL);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("session/loaded_agents");
	TCase *c = tcase_create("session/loaded_agents");
	SRunner *r;
	int failed;

	tcase_add_checked_fixture(c, setup, teardown);
	tcase_add_test(c, each_mapped_agent_is_listed_once);
	tcase_add_test(c, paths_are_relative_to_the_root_of_the_target);
	tcase_add_test(c, other_file_names_are_ignored);
	tcase_add_test(c, number_of_agents_is_limited);
	tcase_add_loop_test(c, musl_is_recognised, 0, 2);
	tcase_add_test(c, exited_target_is_an_error);
	suite_add_tcase(s, c);
	r = srunner_create(s);
	srunner_run_all(r, CK_ENV);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
