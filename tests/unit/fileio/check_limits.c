/* Limits of the data that a target sends: free disk space, progress, and time. */
#include <check.h>
#include <errno.h>
#include <sys/mman.h>
#include <sys/statvfs.h>
#include <sys/wait.h>

#include "base/buf.h"
#include "fileio/disk_room.h"
#include "fileio/spool.h"
#include "fileio/slow_peer.h"
#include "fileio/watchdog.h"

#define MB ((uint64_t)1 << 20)
#define GB ((uint64_t)1 << 30)

/* The file system that the wrapped fstatvfs(3) reports, if fs_size is not 0. */
static uint64_t fs_size, fs_free;

int __real_fstatvfs(int fd, struct statvfs *fs);
int __wrap_fstatvfs(int fd, struct statvfs *fs);
int __wrap_fstatvfs(int fd, struct statvfs *fs)
{
	if (fs_size == 0)
		return __real_fstatvfs(fd, fs);
	*fs = (struct statvfs){ .f_frsize = 4096, .f_blocks = fs_size / 4096,
				.f_bfree = fs_free / 4096 + 1000, .f_bavail = fs_free / 4096 };
	return 0;
}

static const struct {
	uint64_t size, free, keep;
} rooms[] = {
	{ 0, 0, 0 },
	{ 64 * MB, 64 * MB, 32 * MB },   /* a tmpfs of a container */
	{ 500 * MB, 400 * MB, 200 * MB },
	{ 10 * GB, 8 * GB, GB },
	{ 10 * GB, 1 * GB, 512 * MB },
	{ 100 * GB, 60 * GB, 100 * GB / 100 * 5 },
	{ 1000 * GB, 30 * GB, 15 * GB },
	{ UINT64_MAX, UINT64_MAX, UINT64_MAX / 100 * 5 },
};

START_TEST(space_to_keep_is_5_percent_or_1_gb_or_half)
{
	ck_assert_uint_eq(disk_room_keep(rooms[_i].size, rooms[_i].free), rooms[_i].keep);
}
END_TEST

START_TEST(writing_stops_before_too_little_is_free)
{
	struct disk_room room;
	uint64_t written = 0;
	int rc;

	fs_size = 10 * GB;
	fs_free = 2 * GB;
	room = disk_room_begin(0);
	while ((rc = disk_room_take(&room, 65536)) == 0 && written < 4 * GB) {
		written += 65536;
		fs_free -= 65536;
	}
	ck_assert_int_eq(rc, -DISK_ROOM_FULL);
	ck_assert_uint_ge(fs_free, GB);
	ck_assert_uint_le(fs_free, GB + 65536);
	/* Space that other processes free can be used. */
	fs_free += MB;
	ck_assert_int_eq(disk_room_take(&room, 65536), 0);
	fs_size = 0;
}
END_TEST

START_TEST(more_than_there_is_room_for_is_refused_at_once)
{
	struct disk_room room;

	fs_size = 500 * MB;
	fs_free = 400 * MB;
	room = disk_room_begin(0);
	ck_assert_int_eq(disk_room_take(&room, 8192 * GB), -DISK_ROOM_FULL);
	ck_assert_int_eq(disk_room_take(&room, 201 * MB), -DISK_ROOM_FULL);
	ck_assert_int_eq(disk_room_take(&room, 2 * MB), 0);
	fs_size = 0;
}
END_TEST

START_TEST(a_pipe_has_no_limit)
{
	struct disk_room room;
	int fds[2];

	ck_assert_int_eq(pipe(fds), 0);
	room = disk_room_begin(fds[1]);
	ck_assert_int_eq(disk_room_take(&room, UINT64_MAX), 0);
	(void)close(fds[0]);
	(void)close(fds[1]);
}
END_TEST

static int64_t memory;

static int64_t memory_now(void)
{
	return memory;
}

START_TEST(a_file_in_memory_counts_as_memory)
{
	struct disk_room room;
	uint64_t written = 0;
	int fd = memfd_create("file", MFD_CLOEXEC), rc;

	ck_assert_int_ge(fd, 0);
	ck_assert(disk_room_is_memory(fd));
	room = disk_room_begin(fd);
	ck_assert_int_eq(disk_room_take(&room, UINT64_MAX / 2), 0);
	disk_room_set_memory(memory_now);
	memory = 100 * (int64_t)MB;
	room = disk_room_begin(fd);
	while ((rc = disk_room_take(&room, MB)) == 0 && written < 200 * MB) {
		written += MB;
		memory -= (int64_t)MB;
	}
	ck_assert_int_eq(rc, -DISK_ROOM_MEMORY);
	ck_assert_uint_eq(written, 100 * MB);
	ck_assert_str_ne(disk_room_error(rc), strerror(-rc));
	/* The JVM grows while it writes a dump: JVM_DUMP_GROWTH (16 MB) must stay free for it. */
	memory = 20 * (int64_t)MB;
	room = disk_room_for_dump(fd);
	ck_assert_int_eq(disk_room_take(&room, 5 * MB), -DISK_ROOM_MEMORY);
	ck_assert_int_eq(disk_room_take(&room, 4 * MB), 0);
	memory = -1;
	ck_assert_int_eq(disk_room_take(&room, 1), -DISK_ROOM_MEMORY);
	/* A pipe is not in memory. */
	(void)close(fd);
	room = disk_room_begin(-1);
	ck_assert_int_eq(disk_room_take(&room, GB), 0);
	disk_room_set_memory(NULL);
}
END_TEST

START_TEST(a_spool_keeps_less_in_memory_when_that_is_short)
{
	struct spool s = SPOOL_INIT;
	static char piece[MB];

	disk_room_set_memory(memory_now);
	memory = 0;
	fs_size = fs_free = 1000 * GB;
	ck_assert_int_eq(setenv("TMPDIR", "/var/tmp", 1), 0);
	for (int i = 0; i < 4; i++)
		ck_assert_int_eq(spool_add(&s, piece, sizeof(piece)), 0);
	ck_assert_uint_eq(s.memory.len, MB);
	ck_assert_uint_eq(spool_len(&s), 4 * MB);
	spool_release(&s);
	fs_size = 0;
	disk_room_set_memory(NULL);
}
END_TEST

START_TEST(a_spool_stops_before_its_file_system_is_full)
{
	struct spool s = SPOOL_INIT;
	static char piece[MB];
	int rc;

	fs_size = 200 * MB;
	fs_free = 100 * MB;
	while ((rc = spool_add(&s, piece, sizeof(piece))) == 0 && spool_len(&s) < 200 * MB) {
		if (s.file >= 0)
			fs_free -= sizeof(piece);
	}
	ck_assert_int_eq(rc, -DISK_ROOM_FULL);
	ck_assert_uint_eq(spool_len(&s), SPOOL_MEMORY_MAX + 50 * MB);
	ck_assert_str_ne(disk_room_error(rc), strerror(-rc));
	ck_assert_str_eq(disk_room_error(-ENOSPC), strerror(ENOSPC));
	spool_release(&s);
	fs_size = 0;
}
END_TEST

START_TEST(a_spool_is_read_at_any_position)
{
	struct spool s = SPOOL_INIT;
	static char piece[MB];
	uint64_t total = SPOOL_MEMORY_MAX + 3 * MB;
	char data[4];

	for (uint64_t i = 0; i < total / MB; i++) {
		memset(piece, 'a' + (int)(i % 26), sizeof(piece));
		ck_assert_int_eq(spool_add(&s, piece, sizeof(piece)), 0);
	}
	for (uint64_t i = 0; i < total / MB; i++) {
		ck_assert_int_eq(spool_read(&s, i * MB, data, sizeof(data)), sizeof(data));
		ck_assert_int_eq(data[3], 'a' + (int)(i % 26));
	}
	ck_assert_int_eq(spool_read(&s, SPOOL_MEMORY_MAX - 2, data, sizeof(data)), 2);
	ck_assert_int_eq(spool_read(&s, total - 1, data, sizeof(data)), 1);
	ck_assert_int_eq(spool_read(&s, total, data, sizeof(data)), 0);
	spool_release(&s);
}
END_TEST

START_TEST(progress_begins_another_period)
{
	struct stall s = stall_begin(3600000);

	ck_assert(!stall_is_late(&s, 0));
	s.end = deadline_in_ms(0);
	ck_assert(stall_is_late(&s, 0));
	ck_assert(stall_is_late(&s, STALL_BYTES - 1));
	ck_assert(!stall_is_late(&s, STALL_BYTES));
	s.end = deadline_in_ms(0);
	ck_assert(stall_is_late(&s, 2 * STALL_BYTES - 1));
	ck_assert(!stall_is_late(&s, 2 * STALL_BYTES));
	/* A number that shrinks is not progress. */
	s.end = deadline_in_ms(0);
	ck_assert(stall_is_late(&s, 0));
}
END_TEST

START_TEST(a_child_extends_its_time_in_shared_memory)
{
	struct watchdog *w = mmap(NULL, sizeof(*w), PROT_READ | PROT_WRITE,
				  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int64_t now = monotonic_ns();
	int status;
	pid_t pid;

	ck_assert_ptr_ne(w, MAP_FAILED);
	watchdog_extend(1); /* without a watchdog: no effect */
	w->due_ns = now;
	pid = fork();
	if (pid == 0) {
		watchdog_attach(w);
		watchdog_extend(5000);
		_exit(0);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_ge(w->due_ns, now + (5000 + WATCHDOG_WORK_MS) * INT64_C(1000000));
	ck_assert_int_eq(munmap(w, sizeof(*w)), 0);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("fileio/limits");
	TCase *tc = tcase_create("limits");
	SRunner *sr;
	int failed;

	tcase_add_loop_test(tc, space_to_keep_is_5_percent_or_1_gb_or_half, 0, ARRAY_SIZE(rooms));
	tcase_add_test(tc, writing_stops_before_too_little_is_free);
	tcase_add_test(tc, more_than_there_is_room_for_is_refused_at_once);
	tcase_add_test(tc, a_pipe_has_no_limit);
	tcase_add_test(tc, a_file_in_memory_counts_as_memory);
	tcase_add_test(tc, a_spool_keeps_less_in_memory_when_that_is_short);
	tcase_add_test(tc, a_spool_stops_before_its_file_system_is_full);
	tcase_add_test(tc, a_spool_is_read_at_any_position);
	tcase_add_test(tc, progress_begins_another_period);
	tcase_add_test(tc, a_child_extends_its_time_in_shared_memory);
	suite_add_tcase(s, tc);
	sr = srunner_create(s);
	srunner_run_all(sr, CK_NORMAL);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed == 0 ? 0 : 1;
}
