/* The limits of control groups, versions 1 and 2. */
#include <errno.h>

#include "discover/cgroup.h"
#include "discover/memory_check.h"
#include "unit/support/shell.h"

/* A fake /proc with process 1, and cgroup file systems in the same directory. */
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

static void add_mount(const char *root, const char *point, const char *type, const char *options)
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

START_TEST(lowest_limit_of_all_ancestors_applies)
{
	make_v2();
	add_mount("/", "v2", "cgroup2", "nsdelegate");
	check_limits(4096, 200, 1.5);
	shell("cd v2/pod/app && echo 1024 >memory.max && echo '50000 100000' >cpu.max");
	check_limits(1024, 100, 0.5);
	shell("cd v2/pod/app && echo 8192 >memory.max && echo '250000 100000' >cpu.max");
	check_limits(4096, 200, 1.5);
}
END_TEST

START_TEST(mount_of_a_subtree_is_resolved)
{
	make_v2();
	add_mount("/elsewhere", "v2/pod", "cgroup2", "x");
	add_mount("/po", "v2/pod", "cgroup2", "x");
	check_limits(-1, -1, -1);
	add_mount("/pod", "v2/pod", "cgroup2", "x");
	check_limits(4096, 200, 1.5);
	/* The process has its own cgroup namespace. */
	shell("echo 0::/ >1/cgroup");
	shell("echo '35 31 0:32 / %s/v2/pod/app rw - cgroup2 none rw' >self/mountinfo", dir);
	check_limits(-1, -1, -1);
	shell("echo 77 >v2/pod/app/memory.max");
	check_limits(77, 100, -1);
}
END_TEST

START_TEST(version_1_reads_each_controller_from_its_hierarchy)
{
	make_v2();
	add_mount("/", "v2", "cgroup2", "x");
	shell("mkdir -p 'v 1/docker/id' cpu/docker/id");
	shell("echo '4:memory:/docker/id' >1/cgroup; echo '2:cpu,cpuacct:/docker/id' >>1/cgroup;"
	      "echo '1:name=systemd:/' >>1/cgroup; echo '0::/pod/app' >>1/cgroup");
	check_limits(-1, -1, -1);
	add_mount("/", "v\\0401", "cgroup", "memory");
	add_mount("/", "cpu", "cgroup", "cpu,cpuacct");
	shell("cd 'v 1/docker' && echo 9223372036854771712 | tee memory.limit_in_bytes "
	      ">id/memory.limit_in_bytes && echo 50 >id/memory.usage_in_bytes");
	shell("cd cpu/docker/id && echo -1 >cpu.cfs_quota_us && echo 100000 >cpu.cfs_period_us");
	check_limits(-1, -1, -1);
	shell("cd 'v 1/docker/id' && echo 4096 >memory.limit_in_bytes");
	shell("cd cpu/docker/id && echo 200000 >cpu.cfs_quota_us");
	check_limits(4096, 50, 2);
}
END_TEST

static void check_cpu(double cpus, double throttled_s)
{
	struct cgroup_cpu got;

	cgroup_cpu_read(&proc, 1, &got);
	ck_assert_double_eq_tol(got.cpus, cpus, 1e-9);
	ck_assert_double_eq_tol(got.throttled_s, throttled_s, 1e-9);
}

START_TEST(throttled_time_is_that_of_the_group_with_the_lowest_quota)
{
	check_cpu(-1, -1);
	make_v2();
	add_mount("/", "v2", "cgroup2", "x");
	check_cpu(1.5, -1);
	shell("cd v2/pod && printf 'usage_usec 9\nnr_throttled 2\nthrottled_usec 1500000\n' "
	      ">cpu.stat && echo 'throttled_usec 3' >app/cpu.stat");
	check_cpu(1.5, 1.5);
	shell("cd v2/pod/app && echo '50000 100000' >cpu.max");
	check_cpu(0.5, 3e-6);
	shell(": >v2/pod/app/cpu.stat");
	check_cpu(0.5, -1);
}
END_TEST

START_TEST(throttled_time_of_version_1_is_in_ns)
{
	shell("mkdir -p cpu/app && echo '2:cpu,cpuacct:/app' >1/cgroup");
	add_mount("/", "cpu", "cgroup", "cpu,cpuacct");
	shell("cd cpu/app && echo 20000 >cpu.cfs_quota_us && echo 100000 >cpu.cfs_period_us &&"
	      "printf 'nr_periods 5\nthrottled_time 2500000000\n' >cpu.stat");
	check_cpu(0.2, 2.5);
}
END_TEST

START_TEST(malformed_input_is_reported_as_unknown)
{
	check_limits(-1, -1, -1);
	make_v2();
	shell("echo 'no mount' >self/mountinfo; echo ' - ' >>self/mountinfo;"
	      "echo '1 2 - cgroup2' >>self/mountinfo;"
	      "echo '1 2 3 / / - cgroup x' >>self/mountinfo");
	check_limits(-1, -1, -1);
	add_mount("/", "v2", "cgroup2", "x");
	check_limits(4096, 200, 1.5);
	/* In turn: the group is outside our namespace, lines or numbers are malformed. */
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

/* Every ancestor limits the free memory; inactive page cache counts as free. */
START_TEST(free_memory_is_the_minimum_over_all_ancestors)
{
	struct cgroup got;

	ck_assert_int_eq(memory_free(&proc, 1), -1);
	shell("printf 'MemTotal: 9 kB\nMemFree: 1 kB\nMemAvailable:  8 kB\n' >meminfo");
	ck_assert_int_eq(memory_free(&proc, 1), 8192);
	make_v2();
	add_mount("/", "v2", "cgroup2", "x");
	ck_assert_int_eq(memory_free(&proc, 1), 4096 - 200);
	shell("cd v2/pod && echo 1024 >app/memory.max && echo 1000 >app/memory.current");
	ck_assert_int_eq(memory_free(&proc, 1), 24);
	shell("cd v2/pod && printf 'anon 1\ninactive_file 300\nfile 5\n' >app/memory.stat");
	ck_assert_int_eq(memory_free(&proc, 1), 324);
	/* The group with the least free memory is not the one with the lowest limit. */
	shell("cd v2/pod && echo 4000 >memory.current");
	ck_assert_int_eq(memory_free(&proc, 1), 96);
	cgroup_read(&proc, 1, &got);
	ck_assert_int_eq(got.memory_limit, 1024);
	/* In turn: usage is above the limit, no group has a limit, /proc/meminfo is malformed. */
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

static void check_level(const struct cgroup_level *got, int64_t limit, int64_t free, bool shared,
			bool kills_all)
{
	ck_assert_int_eq(got->limit, limit);
	ck_assert_int_eq(got->free, free);
	ck_assert_int_eq(got->shared, shared);
	ck_assert_int_eq(got->kills_all, kills_all);
}

/* Process 1 is in /pod/app, jtool in `own`. */
static int read_levels(const char *own, struct cgroup_level levels[CGROUP_LEVELS_MAX])
{
	shell("echo '0::%s' >self/cgroup", own);
	return cgroup_levels(&proc, 1, levels);
}

START_TEST(levels_are_all_groups_with_a_limit_from_the_process_upwards)
{
	struct cgroup_level levels[CGROUP_LEVELS_MAX];

	make_v2();
	add_mount("/", "v2", "cgroup2", "nsdelegate");
	ck_assert_int_eq(read_levels("/", levels), 1);
	check_level(levels, 4096, 4096 - 200, false, false);
	shell("cd v2/pod && echo 1024 >app/memory.max && printf 'inactive_file 10\n' "
	      ">app/memory.stat && echo 8000 >../memory.max && echo 5000 >../memory.current");
	ck_assert_int_eq(read_levels("/", levels), 3);
	check_level(&levels[0], 1024, 1024 - 90, false, false);
	check_level(&levels[1], 4096, 4096 - 200, false, false);
	/* Only the root group is shared, because jtool is in it. */
	check_level(&levels[2], 8000, 3000, true, false);
}
END_TEST

START_TEST(a_level_is_shared_with_jtool_in_it_or_below_it)
{
	struct cgroup_level levels[CGROUP_LEVELS_MAX];

	make_v2();
	add_mount("/", "v2", "cgroup2", "nsdelegate");
	shell("echo 1024 >v2/pod/app/memory.max; mkdir -p v2/pod/side v2/pod/app2 v2/pod/app/in");
	ck_assert_int_eq(read_levels("/pod/app", levels), 2);
	ck_assert(levels[0].shared && levels[1].shared);
	ck_assert_int_eq(read_levels("/pod/app/in", levels), 2);
	ck_assert(levels[0].shared && levels[1].shared);
	ck_assert_int_eq(read_levels("/pod/side", levels), 2);
	ck_assert(!levels[0].shared && levels[1].shared);
	ck_assert_int_eq(read_levels("/pod/app2", levels), 2);
	ck_assert(!levels[0].shared && levels[1].shared);
	ck_assert_int_eq(read_levels("/pod", levels), 2);
	ck_assert(!levels[0].shared && levels[1].shared);
	ck_assert_int_eq(read_levels("/elsewhere", levels), 2);
	ck_assert(!levels[0].shared && !levels[1].shared);
	shell("rm self/cgroup");
	ck_assert_int_eq(cgroup_levels(&proc, 1, levels), 2);
	ck_assert(!levels[0].shared && !levels[1].shared);
}
END_TEST

/* Inside a container with a cgroup namespace of its own: jtool and the JVM are in its root. */
START_TEST(the_root_of_a_cgroup_namespace_is_shared)
{
	struct cgroup_level levels[CGROUP_LEVELS_MAX];

	shell("mkdir v2 && echo 0::/ >1/cgroup && echo 500 >v2/memory.max &&"
	      "echo 100 >v2/memory.current");
	add_mount("/", "v2", "cgroup2", "nsdelegate");
	ck_assert_int_eq(read_levels("/", levels), 1);
	check_level(levels, 500, 400, true, false);
	ck_assert_int_eq(read_levels("/init", levels), 1);
	check_level(levels, 500, 400, true, false);
}
END_TEST

/* memory.oom.group of a group applies at the limit of the group and at those of its ancestors. */
START_TEST(a_group_that_is_killed_as_one_is_reported)
{
	struct cgroup_level levels[CGROUP_LEVELS_MAX];

	make_v2();
	add_mount("/", "v2", "cgroup2", "nsdelegate");
	shell("echo 1024 >v2/pod/app/memory.max; echo 0 >v2/pod/app/memory.oom.group;"
	      "echo 1 >v2/pod/memory.oom.group");
	ck_assert_int_eq(read_levels("/pod/app", levels), 2);
	ck_assert(!levels[0].kills_all && levels[1].kills_all);
	shell("echo 1 >v2/pod/app/memory.oom.group; rm v2/pod/memory.oom.group");
	ck_assert_int_eq(read_levels("/pod/app", levels), 2);
	ck_assert(levels[0].kills_all && levels[1].kills_all);
	/* /pod/app has no limit of its own. */
	shell("echo max >v2/pod/app/memory.max");
	ck_assert_int_eq(read_levels("/pod/app", levels), 1);
	check_level(levels, 4096, 4096 - 200, true, true);
}
END_TEST

START_TEST(a_group_whose_use_is_unreadable_has_no_free_memory)
{
	struct cgroup_level levels[CGROUP_LEVELS_MAX];
	struct cgroup g;

	make_v2();
	add_mount("/", "v2", "cgroup2", "x");
	shell("rm v2/pod/memory.current");
	ck_assert_int_eq(read_levels("/pod/app", levels), 1);
	ck_assert_int_eq(levels[0].used, -1);
	check_level(levels, 4096, 0, true, false);
	cgroup_read(&proc, 1, &g);
	ck_assert_int_eq(g.memory_free, 0);
}
END_TEST

START_TEST(levels_of_version_1)
{
	struct cgroup_level levels[CGROUP_LEVELS_MAX];

	shell("mkdir -p m/docker/id && echo 4:memory:/docker/id >1/cgroup;"
	      "echo 4:memory:/docker/id/sub >self/cgroup;"
	      "cd m/docker && echo 9223372036854771712 >memory.limit_in_bytes &&"
	      "echo 4096 >id/memory.limit_in_bytes && echo 4000 >id/memory.usage_in_bytes &&"
	      "printf 'cache 5\ntotal_inactive_file 1000\n' >id/memory.stat");
	add_mount("/", "m", "cgroup", "memory");
	ck_assert_int_eq(cgroup_levels(&proc, 1, levels), 1);
	check_level(levels, 4096, 1096, true, false);
}
END_TEST

/*
 * In a container with a cgroup namespace of its own, the groups of other containers have paths with
 * "..".  The mounts of this container do not show these groups.
 */
START_TEST(a_group_outside_of_our_mounts_is_not_read)
{
	struct cgroup_level levels[CGROUP_LEVELS_MAX];

	shell("mkdir v2 && echo 0::/../other >1/cgroup && echo 500 >v2/memory.max");
	add_mount("/", "v2", "cgroup2", "nsdelegate");
	ck_assert_int_eq(read_levels("/", levels), -ENOENT);
	add_mount("/../other", "v2", "cgroup2", "nsdelegate");
	ck_assert_int_eq(read_levels("/", levels), -ENOENT);
	/* The memory controller is in version 1: the group of version 2 is not read instead. */
	shell("printf '4:memory:/../other\\n0::/\\n' >1/cgroup");
	ck_assert_int_eq(read_levels("/", levels), -ENOENT);
}
END_TEST

/* The mount point in the other container must be a cgroup file system: here it is not. */
START_TEST(ordinary_files_of_another_container_are_not_believed)
{
	struct cgroup_level levels[CGROUP_LEVELS_MAX];

	shell("mkdir -p root/v2 && ln -s ../root 1/root && echo 0::/../other >1/cgroup &&"
	      "echo 500 >root/v2/memory.max && : >self/mountinfo &&"
	      "echo '35 31 0:32 /../other /v2 rw - cgroup2 none rw' >1/mountinfo");
	ck_assert_int_eq(read_levels("/", levels), -ENOENT);
	ck_assert_int_eq(cgroup_levels_inside(&proc, 1, levels), 0);
}
END_TEST

START_TEST(the_memory_of_the_machine_is_a_level)
{
	struct cgroup_level level;

	ck_assert_int_lt(memory_machine(&proc, &level), 0);
	shell("printf 'MemTotal: 9 kB\nMemAvailable:  8 kB\n' >meminfo");
	ck_assert_int_eq(memory_machine(&proc, &level), 0);
	check_level(&level, 9216, 8192, true, false);
	shell("printf 'MemTotal: 9 kB\n' >meminfo");
	ck_assert_int_lt(memory_machine(&proc, &level), 0);
}
END_TEST

START_TEST(oom_score_raise_sets_the_maximum)
{
	char text[8] = "";
	FILE *file;

	oom_score_raise();
	file = fopen("/proc/self/oom_score_adj", "re");
	ck_assert_ptr_nonnull(file);
	ck_assert_ptr_nonnull(fgets(text, sizeof(text), file));
	ck_assert_str_eq(text, "1000\n");
	(void)fclose(file);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("discover/cgroup");
	TCase *tc = tcase_create("discover/cgroup");
	SRunner *sr = srunner_create(s);
	int failed;

	suite_add_tcase(s, tc);
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, lowest_limit_of_all_ancestors_applies);
	tcase_add_test(tc, mount_of_a_subtree_is_resolved);
	tcase_add_test(tc, version_1_reads_each_controller_from_its_hierarchy);
	tcase_add_test(tc, throttled_time_is_that_of_the_group_with_the_lowest_quota);
	tcase_add_test(tc, throttled_time_of_version_1_is_in_ns);
	tcase_add_test(tc, malformed_input_is_reported_as_unknown);
	tcase_add_test(tc, free_memory_is_the_minimum_over_all_ancestors);
	tcase_add_test(tc, levels_are_all_groups_with_a_limit_from_the_process_upwards);
	tcase_add_test(tc, a_level_is_shared_with_jtool_in_it_or_below_it);
	tcase_add_test(tc, the_root_of_a_cgroup_namespace_is_shared);
	tcase_add_test(tc, a_group_that_is_killed_as_one_is_reported);
	tcase_add_test(tc, a_group_whose_use_is_unreadable_has_no_free_memory);
	tcase_add_test(tc, levels_of_version_1);
	tcase_add_test(tc, a_group_outside_of_our_mounts_is_not_read);
	tcase_add_test(tc, ordinary_files_of_another_container_are_not_believed);
	tcase_add_test(tc, the_memory_of_the_machine_is_a_level);
	tcase_add_test(tc, oom_score_raise_sets_the_maximum);
	srunner_run_all(sr, CK_NORMAL);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed != 0;
}
