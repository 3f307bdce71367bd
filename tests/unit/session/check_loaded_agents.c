#include <fcntl.h>
#include <string.h>

#include "embedded/embedded.h"
#include "session/loaded_agents.h"
#include "session/session.h"
#include "session/wake.h"
#include "unit/support/shell.h"

#define HASH "0123456789abcdef"

/* A fake /proc with process 1. */
static struct jvm jvm = { .pid = 1, .nspid = 1 };
static struct target_ns ns = { .jvm = &jvm };
static struct buf own = BUF_INIT; /* this build's agent */
static struct loaded_agents agents;
static struct err err;

static void setup(void)
{
	ck_assert_ptr_nonnull(mkdtemp(dir));
	shell("mkdir -p 1/root/lib");
	ck_assert_int_eq(procfs_open(&ns.proc, dir), 0);
	ns.root_fd = procfs_openat(&ns.proc, 1, "root", O_PATH | O_DIRECTORY);
	ck_assert_int_ge(ns.root_fd, 0);
	ck_assert_int_eq(embedded_agent(&own, &err), 0);
	agents = (struct loaded_agents){ 0 };
	err = (struct err){ 0 };
}

static void teardown(void)
{
	loaded_agents_release(&agents);
	buf_release(&own);
	util_close_p(&ns.root_fd);
	procfs_close(&ns.proc);
	shell("rm -r %s", dir);
}

static void add_mapping(const char *perms, const char *path)
{
	shell("echo '1000-2000 %s 00000000 fe:00 7   %s' >>1/maps", perms, path);
}

static void assert_found(size_t n)
{
	ck_assert_int_eq(loaded_agents_inspect(&ns, &own, &agents, &err), 0);
	ck_assert_uint_eq(agents.n, n);
}

START_TEST(record_of_the_worker_is_parsed_only_when_complete)
{
	_cleanup_buf_ struct buf record = BUF_INIT;
	struct loaded_agents got;
	size_t first;

	add_mapping("r-xp", "/tmp/.jtool-0-1/jtool-agent-" HASH ".so (deleted)");
	assert_found(1);
	loaded_agents_add_record(&record, &agents);
	first = record.len;
	loaded_agents_release(&agents);
	add_mapping("r-xp", "/a dir/jtool-agent-fedcba9876543210.so");
	assert_found(2);
	buf_reset(&record);
	loaded_agents_add_record(&record, &agents);
	for (size_t len = 0; len <= record.len; len++) {
		bool ok = len == 1 || len == first || len == record.len;

		ck_assert_int_eq(loaded_agents_parse(record.data, len, &got), ok);
		loaded_agents_release(&got);
	}
	ck_assert(loaded_agents_parse(record.data, record.len, &got));
	ck_assert_uint_eq(got.n, 2);
	ck_assert_str_eq(got.list[1].path, agents.list[1].path);
	ck_assert_uint_eq(got.list[1].address, agents.list[1].address);
	loaded_agents_release(&got);
	record.data[0] = 2;
	ck_assert(!loaded_agents_parse(record.data, record.len, &got));
}
END_TEST

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
	ck_assert_str_eq(agents.list[0].path, "/tmp/.jtool-0-1/jtool-agent-" HASH ".so");
	ck_assert_str_eq(agents.list[1].path, "/a dir/jtool-agent-fedcba9876543210.so");
	ck_assert(!agents.list[0].at_startup && agents.list[1].at_startup);
	ck_assert_uint_eq(agents.list[0].address, 0x1000);
	ck_assert_ptr_eq(loaded_agents_at(&agents, "/a dir/jtool-agent-fedcba9876543210.so"),
			 &agents.list[1]);
	ck_assert_ptr_null(loaded_agents_at(&agents, "/jtool-agent-0000000000000000.so"));
	ck_assert_ptr_null(loaded_agents_own(&agents));
	ck_assert_ptr_eq(loaded_agents_foreign(&agents), &agents.list[1]);
}
END_TEST

START_TEST(paths_are_relative_to_the_root_of_the_target)
{
	shell("rm -r 1/root; ln -s /var/box 1/root");
	add_mapping("r-xp", "/var/box/tmp/jtool-agent-" HASH ".so (deleted)");
	assert_found(1);
	ck_assert_str_eq(agents.list[0].path, "/tmp/jtool-agent-" HASH ".so");
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

/* Copies this build's agent to /lib/NAME of the target. */
static void copy_agent(const char *name)
{
	_cleanup_free_ char *path = xasprintf("%s/1/root/lib/%s", dir, name);
	FILE *file = fopen(path, "we");

	ck_assert_ptr_nonnull(file);
	ck_assert_uint_eq(fwrite(own.data, 1, own.len, file), own.len);
	ck_assert_int_eq(fclose(file), 0);
}

static void map_code(const char *range, const char *path)
{
	shell("echo '%s r-xp 00000000 fe:00 7   %s' >>1/maps", range, path);
}

START_TEST(copies_are_found_by_their_content)
{
	const struct loaded_agent *foreign;

	copy_agent("mine.so");
	copy_agent("old.so");
	shell("printf x >>1/root/lib/old.so"); /* another build */
	shell("head -c %zu /dev/zero >1/root/lib/zeros.so; mkfifo 1/root/lib/pipe.so", own.len);
	shell("ln -s mine.so 1/root/lib/link.so");
	map_code("7f0000100000-7f0000125000", "/lib/old.so");
	map_code("7f0000200000-7f0000225000", "/lib/mine.so");
	map_code("7f0000300000-7f0000325000", "/lib/zeros.so");
	map_code("7f0000400000-7f0000425000", "/lib/pipe.so");
	map_code("7f0000500000-7f0000525000", "/lib/link.so");
	map_code("7f0000600000-7f0000625000", "/lib/missing.so");
	map_code("7f0000700000-7f0000725000", "/lib/mine.so (deleted)");
	map_code("7f0000800000-7f0000825000", "/lib/jtool-agent.so (deleted)");
	assert_found(3);
	ck_assert(!loaded_agents_at(&agents, "/lib/jtool-agent.so")->this_build);
	foreign = loaded_agents_foreign(&agents);
	ck_assert_str_eq(foreign->path, "/lib/old.so");
	ck_assert(!foreign->this_build);
	ck_assert_str_eq(loaded_agents_own(&agents)->path, "/lib/mine.so");
	ck_assert_uint_eq(loaded_agents_own(&agents)->address, 0x7f0000200000);
}
END_TEST

/* Libraries of other sizes are not opened: this search delays the beginning of each session. */
START_TEST(libraries_of_other_sizes_are_not_opened)
{
	static const char *const ranges[] = {
		"1000-2000", "1000-1000", "2000-1000", "1000-ffffffffffffffff", "", "-", "1000",
		"x", "10000-20000", "100000-200000",
	};

	copy_agent("mine.so");
	for (size_t i = 0; i < ARRAY_SIZE(ranges); i++)
		map_code(ranges[i], "/lib/mine.so");
	assert_found(0);
}
END_TEST

START_TEST(agent_that_sleeps_is_preferred_to_a_staged_one)
{
	_cleanup_free_ char *name = session_agent_name(&own);

	shell("for p in /tmp/.jtool-0-1 /opt /tmp/.jtool-0-2; do "
	      "echo \"1000-2000 r-xp 0 fe:00 7 $p/%s\"; done >1/maps", name);
	assert_found(3);
	ck_assert(agents.list[0].this_build);
	ck_assert_ptr_eq(loaded_agents_own(&agents), &agents.list[1]);
	ck_assert(loaded_agents_own(&agents)->at_startup);
	ck_assert_ptr_null(loaded_agents_foreign(&agents));
}
END_TEST

/* tests/agent/check_wake.c checks that the agent uses this name, too. */
START_TEST(request_names_the_address_and_the_token)
{
	_cleanup_free_ char *name =
		wake_request_name(0x7f0123456789, "0123456789abcdef0123456789abcdef");

	ck_assert_str_eq(name, ".wake-00007f0123456789-0123456789abcdef0123456789abcdef");
}
END_TEST

START_TEST(number_of_agents_is_limited)
{
	shell("for i in $(seq -w 10000); do "
	      "echo \"1-2 r-xp 0 fe:00 7 /tmp/jtool-agent-00000000000$i.so\"; "
	      "done >1/maps");
	ck_assert_int_eq(loaded_agents_inspect(&ns, &own, &agents, &err), 0);
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
	ck_assert_int_eq(loaded_agents_inspect(&ns, &own, &agents, &err), -1);
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
	tcase_add_test(c, record_of_the_worker_is_parsed_only_when_complete);
	tcase_add_test(c, each_mapped_agent_is_listed_once);
	tcase_add_test(c, paths_are_relative_to_the_root_of_the_target);
	tcase_add_test(c, other_file_names_are_ignored);
	tcase_add_test(c, copies_are_found_by_their_content);
	tcase_add_test(c, libraries_of_other_sizes_are_not_opened);
	tcase_add_test(c, agent_that_sleeps_is_preferred_to_a_staged_one);
	tcase_add_test(c, request_names_the_address_and_the_token);
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
