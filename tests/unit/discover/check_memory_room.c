/* Whether the control groups of a JVM have enough free memory for a request. */
#include <check.h>

#include "discover/memory_room.h"

#define MB ((int64_t)1 << 20)

static struct cgroup_level group(int64_t limit_mb, int64_t free_mb, bool shared)
{
	return (struct cgroup_level){ limit_mb * MB, free_mb * MB, (limit_mb - free_mb) * MB,
				      shared, false };
}

START_TEST(without_a_limit_everything_is_granted)
{
	struct memory_room room = memory_room(NULL, 0, 100 * MB, 100 * MB);

	ck_assert_int_eq(room.verdict, MEMORY_GRANTED);
	ck_assert_int_eq(room.own, INT64_MAX);
	ck_assert_int_eq(room.jvm, INT64_MAX);
}
END_TEST

START_TEST(a_group_must_have_growth_and_reserve)
{
	struct cgroup_level level = group(640, 59, false);
	struct memory_room room;

	ck_assert_int_eq(memory_reserve(&level), 10 * MB);
	room = memory_room(&level, 1, 49 * MB, 0);
	ck_assert_int_eq(room.verdict, MEMORY_GRANTED);
	ck_assert_int_eq(room.jvm, 0);
	ck_assert_int_eq(memory_room(&level, 1, 49 * MB + 1, 0).verdict, MEMORY_SHORT);
	/* The group has less free memory than the reserve. */
	level.free = 0;
	ck_assert_int_eq(memory_room(&level, 1, 0, 0).verdict, MEMORY_SHORT);
}
END_TEST

START_TEST(own_memory_counts_in_shared_groups_only)
{
	struct cgroup_level level = group(640, 100, false);
	struct memory_room room = memory_room(&level, 1, 50 * MB, 1000 * MB);

	ck_assert_int_eq(room.verdict, MEMORY_GRANTED);
	ck_assert_int_eq(room.own, INT64_MAX);
	level.shared = true;
	room = memory_room(&level, 1, 50 * MB, 40 * MB);
	ck_assert_int_eq(room.verdict, MEMORY_GRANTED);
	ck_assert_int_eq(room.own, 40 * MB);
	room = memory_room(&level, 1, 50 * MB, 41 * MB);
	ck_assert_int_eq(room.verdict, MEMORY_SHORT_OWN);
	ck_assert_int_eq(memory_room(&level, 1, 91 * MB, 0).verdict, MEMORY_SHORT);
}
END_TEST

/* jtool and the JVM are in two containers of a pod: only the pod's group contains both. */
START_TEST(each_level_counts)
{
	struct cgroup_level levels[] = { group(320, 65, false), group(640, 70, true) };
	struct memory_room room = memory_room(levels, 2, 30 * MB, 20 * MB);

	ck_assert_int_eq(room.verdict, MEMORY_GRANTED);
	ck_assert_int_eq(room.own, 30 * MB);
	ck_assert_int_eq(room.jvm, 30 * MB);
	levels[1].free = 40 * MB;
	room = memory_room(levels, 2, 30 * MB, 20 * MB);
	ck_assert_int_eq(room.verdict, MEMORY_SHORT_OWN);
	ck_assert_uint_eq(room.level, 1);
	levels[0].free = 10 * MB;
	room = memory_room(levels, 2, 30 * MB, 20 * MB);
	ck_assert_int_eq(room.verdict, MEMORY_SHORT);
	ck_assert_uint_eq(room.level, 0);
}
END_TEST

START_TEST(a_group_that_is_killed_as_one_has_twice_the_reserve)
{
	struct cgroup_level level = group(640, 65, true);

	level.kills_all = true;
	ck_assert_int_eq(memory_room(&level, 1, 20 * MB, 25 * MB).verdict, MEMORY_GRANTED);
	ck_assert_int_eq(memory_room(&level, 1, 20 * MB, 26 * MB).verdict, MEMORY_SHORT_OWN);
	/* In another group than the JVM, jtool does not use this group's memory. */
	level.shared = false;
	ck_assert_int_eq(memory_room(&level, 1, 20 * MB, 35 * MB).verdict, MEMORY_GRANTED);
}
END_TEST

START_TEST(the_reserve_has_bounds)
{
	struct cgroup_level small = group(16, 16, false), large = group(1 << 20, 1, false);

	ck_assert_int_eq(memory_reserve(&small), 2 * MB);
	ck_assert_int_eq(memory_reserve(&large), 64 * MB);
}
END_TEST

START_TEST(a_walk_grows_with_the_used_heap)
{
	struct memory_heap heap = { 100 * MB, 400 * MB, 1000 * MB, 0, false };
	int64_t agent = memory_growth(MEMORY_AGENT, &heap);

	ck_assert_int_eq(memory_growth(MEMORY_WALK, &heap), agent + 125 * MB);
	heap.used = -1; /* unknown: all of the committed heap may be used */
	ck_assert_int_eq(memory_growth(MEMORY_WALK, &heap), agent + 500 * MB);
	heap.used = INT64_MAX; /* at most 1 GB: the agent ends a walk that takes more */
	ck_assert_int_eq(memory_growth(MEMORY_WALK, &heap), agent + 1024 * MB / 5 * 5);
	heap = (struct memory_heap){ -1, -1, -1, -1, false };
	ck_assert_int_eq(memory_growth(MEMORY_WALK, &heap), agent);
}
END_TEST

START_TEST(a_snapshot_has_room_for_copied_pages)
{
	struct memory_heap heap = { 100 * MB, 512 * MB, 1000 * MB, 0, false };
	int64_t walk = memory_growth(MEMORY_WALK, &heap);

	ck_assert_int_eq(memory_growth(MEMORY_SNAPSHOT, &heap), walk + (256 + 64 + 1) * MB);
	heap.committed = 8192 * MB;
	ck_assert_int_eq(memory_growth(MEMORY_SNAPSHOT, &heap), walk + (512 + 64 + 16) * MB);
	heap = (struct memory_heap){ 100 * MB, -1, -1, 0, false };
	ck_assert_int_eq(memory_growth(MEMORY_SNAPSHOT, &heap), walk + 512 * MB);
	ck_assert_int_eq(memory_growth(MEMORY_COPY, &heap), 64 * MB);
}
END_TEST

START_TEST(a_collection_touches_pages_of_the_heap)
{
	struct memory_heap heap = { 320 * MB, 320 * MB, 640 * MB, 0, false };
	const struct memory_heap unknown = { -1, -1, -1, -1, false };
	int64_t least = memory_growth(MEMORY_COLLECT, &unknown);

	ck_assert_int_eq(memory_growth(MEMORY_COLLECT, &heap), least + 160 * MB + 10 * MB);
	/* All pages but 20 MB are in use already. */
	heap.max = 340 * MB;
	ck_assert_int_eq(memory_growth(MEMORY_COLLECT, &heap), least + 20 * MB + 10 * MB);
	heap.touched = true;
	ck_assert_int_eq(memory_growth(MEMORY_COLLECT, &heap), least + 10 * MB);
	/* Only -Xmx is known: the JVM has no counters. */
	heap = (struct memory_heap){ -1, -1, 640 * MB, -1, false };
	ck_assert_int_eq(memory_growth(MEMORY_COLLECT, &heap), least + 320 * MB + 20 * MB);
}
END_TEST

START_TEST(growth_increases_with_the_use)
{
	const struct memory_heap heap = { 160 * MB, 160 * MB, 320 * MB, 600, false };
	int64_t last = -1;

	for (enum memory_use use = MEMORY_IDLE; use <= MEMORY_JAVA; use++) {
		ck_assert_int_gt(memory_growth(use, &heap), last);
		last = memory_growth(use, &heap);
	}
	ck_assert_int_eq(memory_growth(MEMORY_IDLE, &heap), 0);
	ck_assert_int_eq(memory_growth(MEMORY_CHANGE_ALL, &heap),
			 memory_growth(MEMORY_CHANGE, &heap) + 600 * 16384);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("discover/memory_room");
	TCase *tc = tcase_create("discover/memory_room");
	SRunner *sr = srunner_create(s);
	int failed;

	suite_add_tcase(s, tc);
	tcase_add_test(tc, without_a_limit_everything_is_granted);
	tcase_add_test(tc, a_group_must_have_growth_and_reserve);
	tcase_add_test(tc, own_memory_counts_in_shared_groups_only);
	tcase_add_test(tc, each_level_counts);
	tcase_add_test(tc, a_group_that_is_killed_as_one_has_twice_the_reserve);
	tcase_add_test(tc, the_reserve_has_bounds);
	tcase_add_test(tc, a_walk_grows_with_the_used_heap);
	tcase_add_test(tc, a_snapshot_has_room_for_copied_pages);
	tcase_add_test(tc, a_collection_touches_pages_of_the_heap);
	tcase_add_test(tc, growth_increases_with_the_use);
	srunner_run_all(sr, CK_NORMAL);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed != 0;
}
