/* The limits of control groups, of both versions. */
#include "target/cgroup.h"
#include "target/memory.h"
#include "shell.h"

/* A copy of a /proc with process 1, and the file systems of cgroups beside it. */
static struct procfs proc;

static void setup(void)
{
	ck_assert_ptr_nonnull(mkdtemp(dir));
	shell("mkdir self 1");
	ck_assert_int_eq(procfs_open(&proc, dir), 0);
}

static void teardown(void)
{
	procfs_close(&proc);
	shell("rm -r %s", dir);
}

static void mounts(const char *root, const char *point, const char *type, const char *options)
{
	shell("printf '%%s\\n' '35 31 0:32 %s %s/%s rw,relatime shared:9 - %s %s rw,%s'"
	      " >>self/mountinfo",
	      root, dir, point, type, type, options);
}

static void check_limits(int64_t limit, int64_t used, double cpus)
{
	struct cgroup got;

	cgroup_read(&proc, 1, &got);
	ck_assert_int_eq(got.memory_limit, limit);
	ck_assert_int_eq(got.memory_used, used);
	ck_assert_double_eq_tol(got.cpus, cpus, 1e-9);
}

static void make_v2(void)
{
	shell("mkdir -p v2/pod/app && echo 0::/pod/app >1/cgroup");
	shell("cd v2/pod && echo max >app/memory.max && echo 100 >app/memory.current &&"
	      "echo 'max 100000' >app/cpu.max && echo 4096 >memory.max &&"
	      "echo 200 >memory.current && echo '150000 100000' >cpu.max");
}

START_TEST(the_tightest_limit_counts)
{
	make_v2();
	mounts("/", "v2", "cgroup2", "nsdelegate");
	check_limits(4096, 200, 1.5);
	shell("cd v2/pod/app && echo 1024 >memory.max && echo '50000 100000' >cpu.max");
	check_limits(1024, 100, 0.5);
	shell("cd v2/pod/app && echo 8192 >memory.max && echo '250000 100000' >cpu.max");
	check_limits(4096, 200, 1.5);
}
END_TEST

START_TEST(a_mount_may_show_a_part)
{
	make_v2();
	mounts("/elsewhere", "v2/pod", "cgroup2", "x");
	mounts("/po", "v2/pod", "cgroup2", "x");
	check_limits(-1, -1, -1);
	mounts("/pod", "v2/pod", "cgroup2", "x");
	check_limits(4096, 200, 1.5);
	/* In a cgroup namespace of its own. */
	shell("echo 0::/ >1/cgroup");
	shell("echo '35 31 0:32 / %s/v2/pod/app rw - cgroup2 none rw' >self/mountinfo", dir);
	check_limits(-1, -1, -1);
	shell("echo 77 >v2/pod/app/memory.max");
	check_limits(77, 100, -1);
}
END_TEST

START_TEST(version_1_has_a_hierarchy_each)
{
	make_v2();
	mounts("/", "v2", "cgroup2", "x");
	shell("mkdir -p 'v 1/docker/id' cpu/docker/id");
	shell("echo '4:memory:/docker/id' >1/cgroup; echo '2:cpu,cpuacct:/docker/id' >>1/cgroup;"
	      "echo '1:name=systemd:/' >>1/cgroup; echo '0::/pod/app' >>1/cgroup");
	check_limits(-1, -1, -1);
	mounts("/", "v\\0401", "cgroup", "memory");
	mounts("/", "cpu", "cgroup", "cpu,cpuacct");
	shell("cd 'v 1/docker' && echo 9223372036854771712 | tee memory.limit_in_bytes "
	      ">id/memory.limit_in_bytes && echo 50 >id/memory.usage_in_bytes");
	shell("cd cpu/docker/id && echo -1 >cpu.cfs_quota_us && echo 100000 >cpu.cfs_period_us");
	check_limits(-1, -1, -1);
	shell("cd 'v 1/docker/id' && echo 4096 >memory.limit_in_bytes");
	shell("cd cpu/docker/id && echo 200000 >cpu.cfs_quota_us");
	check_limits(4096, 50, 2);
}
END_TEST

START_TEST(what_is_not_certain_is_not_told)
{
	check_limits(-1, -1, -1);
	make_v2();
	shell("echo 'no mount' >self/mountinfo; echo ' - ' >>self/mountinfo;"
	      "echo '1 2 - cgroup2' >>self/mountinfo;"
	      "echo '1 2 3 / / - cgroup x' >>self/mountinfo");
	check_limits(-1, -1, -1);
	mounts("/", "v2", "cgroup2", "x");
	check_limits(4096, 200, 1.5);
	/* Outside our namespace; no lines at all; numbers that are none. */
	shell("echo '0::/../pod/app' >1/cgroup");
	check_limits(-1, -1, -1);
	shell("printf '0:\\n0\\n:\\n\\n' >1/cgroup");
	check_limits(-1, -1, -1);
	shell("echo '0::/pod/app' >1/cgroup; cd v2/pod; echo -5 >memory.max; echo '0 0' >cpu.max");
	check_limits(-1, -1, -1);
	shell("echo 99999999999999999999999 >v2/pod/memory.max; : >v2/pod/cpu.max");
	check_limits(-1, -1, -1);
}
END_TEST

/* What is free below a group counts, too, but not what its files have in memory. */
START_TEST(memory_that_is_free)
{
	struct cgroup got;

	ck_assert_int_eq(memory_free(&proc, 1), -1);
	shell("printf 'MemTotal: 9 kB\nMemFree: 1 kB\nMemAvailable:  8 kB\n' >meminfo");
	ck_assert_int_eq(memory_free(&proc, 1), 8192);
	make_v2();
	mounts("/", "v2", "cgroup2", "x");
	ck_assert_int_eq(memory_free(&proc, 1), 4096 - 200);
	shell("cd v2/pod && echo 1024 >app/memory.max && echo 1000 >app/memory.current");
	ck_assert_int_eq(memory_free(&proc, 1), 24);
	shell("cd v2/pod && printf 'anon 1\ninactive_file 300\nfile 5\n' >app/memory.stat");
	ck_assert_int_eq(memory_free(&proc, 1), 324);
	/* The tightest limit is not where the least is free. */
	shell("cd v2/pod && echo 4000 >memory.current");
	ck_assert_int_eq(memory_free(&proc, 1), 96);
	cgroup_read(&proc, 1, &got);
	ck_assert_int_eq(got.memory_limit, 1024);
	/* More than there may be; numbers that make no sense. */
	shell("cd v2/pod && echo 5000 >memory.current");
	ck_assert_int_eq(memory_free(&proc, 1), 0);
	shell("cd v2/pod && echo max >memory.max && echo max >app/memory.max");
	ck_assert_int_eq(memory_free(&proc, 1), 8192);
	shell("printf 'x\nMemAvailable: -8 kB\n' >meminfo");
	ck_assert_int_eq(memory_free(&proc, 1), -1);
	shell("printf 'x\nMemAvailable: kB\n' >meminfo");
	ck_assert_int_eq(memory_free(&proc, 1), -1);
	shell("printf 'x\nMemAvailable: 9223372036854775807 kB\n' >meminfo");
	ck_assert_int_eq(memory_free(&proc, 1), -1);
}
END_TEST

START_TEST(memory_is_yielded)
{
	char text[8] = "";
	FILE *file;

	memory_yield();
	file = fopen("/proc/self/oom_score_adj", "re");
	ck_assert_ptr_nonnull(file);
	ck_assert_ptr_nonnull(fgets(text, sizeof(text), file));
	ck_assert_str_eq(text, "1000\n");
	(void)fclose(file);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("cgroup");
	TCase *tc = tcase_create("cgroup");
	SRunner *sr = srunner_create(s);
	int failed;

	suite_add_tcase(s, tc);
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, the_tightest_limit_counts);
	tcase_add_test(tc, a_mount_may_show_a_part);
	tcase_add_test(tc, version_1_has_a_hierarchy_each);
	tcase_add_test(tc, what_is_not_certain_is_not_told);
	tcase_add_test(tc, memory_that_is_free);
	tcase_add_test(tc, memory_is_yielded);
	srunner_run_all(sr, CK_NORMAL);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed != 0;
}
