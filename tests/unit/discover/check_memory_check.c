/* The decision whether a request could make the kernel kill the JVM, and its messages. */
#include <check.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/xalloc.h"
#include "discover/memory_check.h"

#define MB (INT64_C(1) << 20)

/* The control groups that the wrapped functions report. */
static struct cgroup_level group;
static int n_levels, n_levels_inside;

int __wrap_cgroup_levels(const struct procfs *proc, pid_t pid, struct cgroup_level *levels);
int __wrap_cgroup_levels_inside(const struct procfs *proc, pid_t pid, struct cgroup_level *levels);

int __wrap_cgroup_levels(const struct procfs *proc, pid_t pid, struct cgroup_level *levels)
{
	(void)proc;
	(void)pid;
	levels[0] = group;
	return n_levels;
}

int __wrap_cgroup_levels_inside(const struct procfs *proc, pid_t pid, struct cgroup_level *levels)
{
	(void)proc;
	(void)pid;
	levels[0] = group;
	return n_levels_inside;
}

static struct jvm jvm = {
	.pid = 4711, .heap_used = 10 * MB, .heap_bound = 10 * MB, .heap_committed = 32 * MB,
	.heap_max = 64 * MB, .classes = 500,
};

static void check_refused(enum memory_use use, const char *text)
{
	struct err err = { .code = EXIT_DONE };

	ck_assert_int_eq(memory_check(&jvm, use, NULL, &err), -1);
	ck_assert_int_eq(err.code, EXIT_PARTIAL);
	ck_assert_str_eq(err.text, text);
}

#define COULD_KILL ", because the OOM killer could kill JVM 4711: "

START_TEST(request_with_enough_memory_is_granted)
{
	struct err err = { .code = EXIT_DONE };
	struct memory_room room;

	n_levels = 1;
	group = (struct cgroup_level){ .limit = 500 * MB, .free = 300 * MB, .used = 200 * MB };
	for (enum memory_use use = MEMORY_IDLE; use <= MEMORY_COPY; use++) {
		ck_assert_int_eq(memory_check(&jvm, use, &room, &err), 0);
		ck_assert_int_eq(room.verdict, MEMORY_GRANTED);
		ck_assert_int_gt(room.jvm, 0);
		ck_assert_int_le(room.jvm, 300 * MB);
	}
}
END_TEST

START_TEST(full_group_stops_what_runs)
{
	static const char text[] =
		"stopped" COULD_KILL "only 1 of 100 MB of memory are free in its control group; "
		"raise its memory limit";

	n_levels = 1;
	group = (struct cgroup_level){ .limit = 100 * MB, .free = 2 * MB - 1, .used = 98 * MB };
	check_refused(MEMORY_IDLE, text);
	check_refused(MEMORY_COPY, text);
}
END_TEST

START_TEST(growth_of_the_jvm_is_refused_without_memory)
{
	const struct memory_heap heap = { 10 * MB, 32 * MB, 64 * MB, 500, false };
	int64_t mb = (memory_growth(MEMORY_WALK, &heap) + MB - 1) / MB;
	char *text = xasprintf("not started" COULD_KILL "a walk along all references may take "
			       "%d MB of memory in the JVM, but only 5 of 100 MB are free in its "
			       "control group; raise its memory limit", (int)mb);

	n_levels = 1;
	group = (struct cgroup_level){ .limit = 100 * MB, .free = 5 * MB, .used = 95 * MB };
	check_refused(MEMORY_WALK, text);
	/* A container's own groups count if jtool's mounts do not show them. */
	n_levels = -ENOENT;
	n_levels_inside = 1;
	check_refused(MEMORY_WALK, text);
	free(text);
}
END_TEST

START_TEST(jtool_counts_in_a_group_of_both)
{
	const struct memory_heap heap = { 10 * MB, 32 * MB, 64 * MB, 500, false };
	int64_t growth = memory_growth(MEMORY_WALK, &heap);
	struct err err = { .code = EXIT_DONE };
	char *text;

	n_levels = 1;
	group = (struct cgroup_level){ .limit = 100 * MB };
	group.free = memory_reserve(&group) + growth + MB;
	ck_assert_int_eq(memory_check(&jvm, MEMORY_WALK, NULL, &err), 0);
	group.shared = true;
	text = xasprintf("not started" COULD_KILL "for a walk along all references, the JVM may "
			 "take %d MB of memory and jtool 16 MB, but only %d of 100 MB are free in "
			 "the control group of both; run jtool outside of it, for example on the "
			 "host, or raise its memory limit", (int)((growth + MB - 1) / MB),
			 (int)(group.free / MB));
	check_refused(MEMORY_WALK, text);
	free(text);
}
END_TEST

START_TEST(unknown_usage_is_refused)
{
	static const char text[] = COULD_KILL "the memory usage of its control group cannot be "
				   "read; try again, or run jtool on the host";
	char *not_started = xasprintf("not started%s", text);
	char *stopped = xasprintf("stopped%s", text);

	n_levels = 1;
	group = (struct cgroup_level){ .limit = 100 * MB, .free = 0, .used = -1 };
	check_refused(MEMORY_AGENT, not_started);
	check_refused(MEMORY_IDLE, stopped);
	free(not_started);
	free(stopped);
}
END_TEST

START_TEST(groups_in_a_container_that_cannot_be_read_refuse_a_start)
{
	struct memory_watch watch = { .jvm = &jvm };
	struct err err = { .code = EXIT_DONE };

	n_levels = -ENOENT;
	n_levels_inside = -EIO;
	check_refused(MEMORY_REQUEST,
		      "not started" COULD_KILL "the memory limit of its container cannot be read: "
		      "Input/output error; try again, or run jtool on the host");
	/* They are not read while a request runs, which would take too long. */
	ck_assert_int_eq(memory_check(&jvm, MEMORY_IDLE, NULL, &err), 0);
	ck_assert_int_eq(memory_watch(&watch, &err), 0);
	ck_assert_int_gt(watch.next_ns, 0);
}
END_TEST

START_TEST(memory_is_measured_again_after_a_while)
{
	struct memory_watch watch = { .jvm = &jvm };
	struct err err = { .code = EXIT_DONE };

	n_levels = 1;
	group = (struct cgroup_level){ .limit = 500 * MB, .free = 300 * MB, .used = 200 * MB };
	ck_assert_int_eq(memory_watch(&watch, &err), 0);
	group.free = 0;
	watch.next_ns += INT64_C(3600000000000);
	ck_assert_int_eq(memory_watch(&watch, &err), 0); /* not yet */
	watch.next_ns = 0;
	ck_assert_int_eq(memory_watch(&watch, &err), -1);
}
END_TEST

/* The resident memory stands in for a heap without counters. */
START_TEST(used_heap_has_an_upper_bound)
{
	struct jvm unknown = { .pid = getpid(), .heap_used = -1, .heap_max = -1 };
	int64_t resident = memory_resident(&unknown);

	ck_assert_int_gt(resident, 0);
	ck_assert_int_eq(memory_heap_used(&jvm), 10 * MB);
	ck_assert_int_gt(memory_heap_used(&unknown), 0);
	unknown.heap_max = 1;
	ck_assert_int_eq(memory_heap_used(&unknown), 1);
	unknown.heap_max = INT64_MAX;
	ck_assert_int_gt(memory_heap_used(&unknown), 1);
	unknown.pid = -1;
	ck_assert_int_eq(memory_resident(&unknown), -1);
	ck_assert_int_eq(memory_heap_used(&unknown), INT64_MAX);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("discover/memory_check");
	TCase *t = tcase_create("discover/memory_check");
	SRunner *r = srunner_create(s);
	int failed;

	tcase_add_test(t, request_with_enough_memory_is_granted);
	tcase_add_test(t, full_group_stops_what_runs);
	tcase_add_test(t, growth_of_the_jvm_is_refused_without_memory);
	tcase_add_test(t, jtool_counts_in_a_group_of_both);
	tcase_add_test(t, unknown_usage_is_refused);
	tcase_add_test(t, groups_in_a_container_that_cannot_be_read_refuse_a_start);
	tcase_add_test(t, memory_is_measured_again_after_a_while);
	tcase_add_test(t, used_heap_has_an_upper_bound);
	suite_add_tcase(s, t);
	srunner_run_all(r, CK_NORMAL);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed != 0;
}
