#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <linux/capability.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/inotify.h>
#include <sys/mount.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/wait.h>

#include "base/util.h"
#include "base/xalloc.h"
#include "proc/capabilities.h"
#include "proc/inroot.h"
#include "proc/process_set.h"
#include "proc/procfs.h"

static struct procfs proc;
static char dir[] = "/tmp/check_procfs.XXXXXX";

static void setup(void)
{
	ck_assert_int_eq(procfs_open(&proc, "/proc"), 0);
	ck_assert_ptr_nonnull(mkdtemp(dir));
}

static void teardown(void)
{
	_cleanup_free_ char *command = xasprintf("rm -rf %s", dir);

	procfs_close(&proc);
	ck_assert_int_eq(system(command), 0);
}

START_TEST(pids_are_sorted_and_include_this_process)
{
	_cleanup_free_ pid_t *pids = NULL;
	size_t n = 0, found = 0;

	ck_assert_int_eq(procfs_pids(&proc, &pids, &n), 0);
	for (size_t i = 0; i < n; i++) {
		ck_assert(i == 0 || pids[i - 1] < pids[i]);
		found += pids[i] == getpid();
	}
	ck_assert_uint_eq(found, 1);
}
END_TEST

START_TEST(only_proc_of_the_own_namespace_is_own)
{
	struct procfs copy;

	ck_assert(procfs_is_own(&proc));
	ck_assert_int_eq(procfs_open(&copy, dir), 0);
	ck_assert(!procfs_is_own(&copy));
	procfs_close(&copy);
}
END_TEST

START_TEST(status_has_ids_and_signals)
{
	struct sigaction act = { .sa_handler = SIG_IGN };
	struct proc_status status;

	ck_assert_int_eq(procfs_status(&proc, getpid(), &status), 0);
	ck_assert_uint_eq(status.euid, geteuid());
	ck_assert_uint_eq(status.egid, getegid());
	ck_assert_int_eq(status.tgid, getpid());
	ck_assert_str_eq(status.name, getprogname());
	ck_assert_int_eq(status.state, 'R');
	ck_assert(!(status.sig_caught & 1ULL << (SIGQUIT - 1)));
	ck_assert_double_ge(procfs_uptime(&proc, &status), 0);
	ck_assert_double_lt(procfs_uptime(&proc, &status), 600);
	ck_assert_int_eq(sigaction(SIGQUIT, &act, NULL), 0);
	act.sa_handler = (void (*)(int))(void *)abort;
	ck_assert_int_eq(sigaction(SIGQUIT, &act, NULL), 0);
	ck_assert_int_eq(procfs_status(&proc, getpid(), &status), 0);
	ck_assert(status.sig_caught & 1ULL << (SIGQUIT - 1));
	ck_assert_int_lt(procfs_status(&proc, 0x7ffffff0, &status), 0);
}
END_TEST

static void write_file(int pid, const char *name, const char *text)
{
	_cleanup_free_ char *parent = xasprintf("%s/%d", dir, pid);
	_cleanup_free_ char *path = xasprintf("%s/%s", parent, name);
	FILE *f;

	ck_assert(mkdir(parent, 0700) == 0 || errno == EEXIST);
	f = fopen(path, "w");
	ck_assert_ptr_nonnull(f);
	ck_assert_int_ge(fputs(text, f), 0);
	ck_assert_int_eq(fclose(f), 0);
}

START_TEST(process_name_cannot_forge_fields)
{
	struct procfs copy;
	struct proc_status status;

	write_file(7, "stat", "7 (a) S 1 (b) R 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 "
			      "4711 23 24\n");
	write_file(7, "status", "Name:\ta\\nTgid: 1\nState:\tT (stopped)\nTgid:\t9\n"
				"Uid:\t1\t2\t3\t4\nGid:\t5\t6\t7\t8\n"
				"NSpid:\t7\t5\t3\nThreads:\t12\n"
				"SigPnd:\t0000000000000001\nShdPnd:\t0000000000000004\n"
				"CapInh:\t0000000000000001\nCapPrm:\t000001ffffffffff\n"
				"CapEff:\t0000000000000003\nCapBnd:\t0000000000000007\n");
	ck_assert_int_eq(procfs_open(&copy, dir), 0);
	ck_assert_int_eq(procfs_status(&copy, 7, &status), 0);
	ck_assert_uint_eq(status.start_ticks, 4711);
	ck_assert_int_eq(status.tgid, 9);
	ck_assert_int_eq(status.nspid, 3);
	ck_assert_uint_eq(status.euid, 2);
	ck_assert_uint_eq(status.egid, 6);
	ck_assert_uint_eq(status.threads, 12);
	ck_assert_uint_eq(status.sig_pending, 5);
	ck_assert_int_eq(status.state, 'T');
	ck_assert_uint_eq(status.caps.inheritable, 1);
	ck_assert_uint_eq(status.caps.permitted, 0x1ffffffffff);
	ck_assert_uint_eq(status.caps.effective, 3);
	ck_assert_uint_eq(status.caps.bounding, 7);
	write_file(7, "stat", "7 (a) S 1 2 3");
	ck_assert_int_eq(procfs_status(&copy, 7, &status), -EBADMSG);
	procfs_close(&copy);
}
END_TEST

/* SIGKILL (bit 8) is pending in the thread or the process, or PF_EXITING (4) is set. */
START_TEST(killed_process_is_exiting)
{
	static const struct {
		const char *flags, *signals;
		bool exiting;
	} cases[] = {
		{ "4194304", "SigPnd:\t0000000000000004\nShdPnd:\t0000000000000001\n", false },
		{ "4194304", "SigPnd:\t0000000000000100\nShdPnd:\t0000000000000000\n", true },
		{ "4194304", "SigPnd:\t0000000000000000\nShdPnd:\t0000000000000100\n", true },
		{ "4194308", "SigPnd:\t0000000000000000\nShdPnd:\t0000000000000000\n", true },
	};
	struct procfs copy;

	ck_assert_int_eq(procfs_open(&copy, dir), 0);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_cleanup_free_ char *stat = xasprintf("7 (a) S 4 5 6 7 8 %s 10 11 12 13 14 15 16 "
						      "17 18 19 20 21 4711 23 24\n",
						      cases[i].flags);
		const int same = cases[i].exiting ? -ESRCH : 0;
		struct proc_status status;

		write_file(7, "stat", stat);
		write_file(7, "status", cases[i].signals);
		ck_assert_int_eq(procfs_status(&copy, 7, &status), 0);
		ck_assert_int_eq(status.exiting, cases[i].exiting);
		ck_assert_int_eq(procfs_recheck(&copy, 7, 4711, &status), same);
		ck_assert_int_eq(procfs_recheck(&copy, 7, 4712, &status), -ESRCH);
		ck_assert_int_eq(procfs_recheck(&copy, 8, 4711, &status), -ESRCH);
	}
	procfs_close(&copy);
}
END_TEST

START_TEST(usage_is_in_bytes_and_seconds)
{
	const double hz = (double)sysconf(_SC_CLK_TCK);
	struct proc_usage usage;
	struct procfs copy;

	ck_assert_int_eq(procfs_usage(&proc, getpid(), &usage), 0);
	ck_assert_int_eq(usage.parent, getppid());
	ck_assert_int_gt(usage.memory.resident, 4096);
	ck_assert_int_ge(usage.memory.resident_peak, usage.memory.resident);
	ck_assert_int_gt(usage.open_files, 3);

	ck_assert_int_eq(procfs_open(&copy, dir), 0);
	write_file(6, "stat", "6 (a) b) S 4 5 6 7 8 9 10 11 12 13 1400 150 16 17 18 19 20 21 22 "
			      "23 24\n");
	write_file(6, "status", "VmHWM:\t     300 kB\nVmRSS:\t     200 kB\nVmSwap:\tx\n");
	write_file(6, "limits", "Max processes   7   8   processes\n"
				"Max open files            1024         4096         files\n");
	ck_assert_int_eq(procfs_usage(&copy, 6, &usage), 0);
	ck_assert_int_eq(usage.parent, 4);
	ck_assert_double_eq_tol(usage.user, 1400 / hz, 1e-9);
	ck_assert_double_eq_tol(usage.system, 150 / hz, 1e-9);
	ck_assert_int_eq(usage.memory.resident, 200 * 1024);
	ck_assert_int_eq(usage.memory.resident_peak, 300 * 1024);
	ck_assert_int_eq(usage.memory.swapped, -1);
	ck_assert_int_eq(usage.max_files, 1024);
	ck_assert_int_eq(usage.open_files, -1);
	write_file(6, "limits", "Max open files            unlimited    unlimited    files\n");
	ck_assert_int_eq(procfs_usage(&copy, 6, &usage), 0);
	ck_assert_int_eq(usage.max_files, -1);
	write_file(6, "stat", "6 (a) S 4 5");
	ck_assert_int_eq(procfs_usage(&copy, 6, &usage), -EBADMSG);
	procfs_close(&copy);
}
END_TEST

struct map_search {
	const char *name;
	bool found, deleted;
};

static bool find_map(const struct proc_map *map, void *arg)
{
	struct map_search *search = arg;

	if (strcmp(map->path, search->name) != 0)
		return true;
	search->found = true;
	search->deleted = map->deleted;
	return false;
}

static void check_mapped(const char *name, bool deleted)
{
	struct map_search search = { .name = name };

	ck_assert_int_eq(procfs_maps(&proc, getpid(), find_map, &search), 0);
	ck_assert(search.found);
	ck_assert_int_eq(search.deleted, deleted);
}

START_TEST(maps_are_searched_across_read_blocks)
{
	char name[] = "/tmp/check_procfs_map.XXXXXX";
	_cleanup_close_ int fd = mkstemp(name);
	_cleanup_free_ char *exe = procfs_readlink(&proc, getpid(), "exe");
	struct map_search data = { .name = name }, program = { .name = exe };
	size_t size = (size_t)sysconf(_SC_PAGESIZE);
	void *page;

	ck_assert_ptr_nonnull(exe);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(ftruncate(fd, (off_t)(400 * size)), 0);
	/* Adjacent mappings have different protection, so the kernel cannot merge them. */
	for (int i = 0; i < 200; i++) {
		page = mmap(NULL, size, i % 2 ? PROT_READ : PROT_NONE, MAP_PRIVATE, fd,
			    (off_t)(2 * size) * i);
		ck_assert_ptr_ne(page, MAP_FAILED);
	}
	check_mapped(name, false);
	ck_assert_int_eq(procfs_code_maps(&proc, getpid(), find_map, &data), 0);
	ck_assert(!data.found);
	ck_assert_int_eq(procfs_code_maps(&proc, getpid(), find_map, &program), 0);
	ck_assert(program.found);
	ck_assert_int_eq(unlink(name), 0);
	check_mapped(name, true);
	ck_assert_int_lt(procfs_maps(&proc, 0x7ffffff0, find_map, NULL), 0);
}
END_TEST

START_TEST(link_that_cannot_be_read_has_a_reason)
{
	errno = 0;
	ck_assert_ptr_null(procfs_readlink(&proc, getpid(), "none"));
	ck_assert_int_eq(errno, ENOENT);
	ck_assert_ptr_null(procfs_readlink(&proc, getpid(), "status"));
	ck_assert_int_eq(errno, EINVAL);
}
END_TEST

static bool count_map(const struct proc_map *map, void *arg)
{
	ck_assert_int_eq(map->path[0], '/');
	ck_assert(!map->deleted);
	ck_assert_str_eq(map->range, "7f0000000000-7f0000001000");
	++*(unsigned *)arg;
	return true;
}

START_TEST(maps_visit_every_line)
{
	_cleanup_buf_ struct buf text = BUF_INIT;
	struct procfs copy;
	unsigned n = 0;

	for (int i = 0; i < 3000; i++)
		buf_addf(&text, "7f0000000000-7f0000001000 r-%cp 00000000 fe:00 %d   /lib/%0*d\n",
			 i % 2 ? 'x' : '-', i, i % 97 + 1, i);
	write_file(8, "maps", buf_str(&text));
	ck_assert_int_eq(procfs_open(&copy, dir), 0);
	ck_assert_int_eq(procfs_maps(&copy, 8, count_map, &n), 0);
	ck_assert_uint_eq(n, 3000);
	ck_assert_int_eq(procfs_code_maps(&copy, 8, count_map, &n), 0);
	ck_assert_uint_eq(n, 4500);
	/* A line longer than any that the kernel writes. */
	buf_reset(&text);
	for (int i = 0; i < 100000; i++)
		buf_addc(&text, '/');
	write_file(8, "maps", buf_str(&text));
	ck_assert_int_eq(procfs_maps(&copy, 8, count_map, &n), -EBADMSG);
	procfs_close(&copy);
}
END_TEST

static bool is_not_helper(const char *name, void *found)
{
	*(bool *)found = strcmp(name, "helper") == 0;
	return !*(bool *)found;
}

static void *wait_for_end(void *fd)
{
	char c;

	return (void *)read(*(int *)fd, &c, 1);
}

START_TEST(threads_are_counted_and_named)
{
	int fds[2];
	pthread_t thread;
	unsigned n, before;
	bool found = false;

	ck_assert_int_eq(procfs_threads(&proc, getpid(), &n), 0);
	ck_assert_uint_ge(n, 1);
	ck_assert_int_eq(pipe(fds), 0);
	before = n;
	ck_assert_int_eq(pthread_create(&thread, NULL, wait_for_end, &fds[0]), 0);
	ck_assert_int_eq(pthread_setname_np(thread, "helper"), 0);
	ck_assert_int_eq(procfs_thread_names(&proc, getpid(), is_not_helper, &found), 0);
	ck_assert(found);
	ck_assert_int_eq(procfs_threads(&proc, getpid(), &n), 0);
	ck_assert_uint_eq(n, before + 1);
	ck_assert_int_eq(close(fds[1]), 0);
	ck_assert_int_eq(pthread_join(thread, NULL), 0);
	ck_assert_int_eq(close(fds[0]), 0);
	ck_assert_int_lt(procfs_threads(&proc, 0x7ffffff0, &n), 0);
}
END_TEST

static bool refuses_other_file_system(void)
{
	struct procfs other;

	if (unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
	    mount("none", "/proc", "tmpfs", 0, NULL) < 0) {
		puts("SKIP: a file system cannot be mounted here");
		return true;
	}
	return procfs_open(&other, "/proc") == -ENODEV;
}

/* Inside a hostile container, any file system may be mounted at /proc. */
START_TEST(proc_must_be_procfs)
{
	pid_t pid = fork();
	int status;

	ck_assert_int_ge(pid, 0);
	if (pid == 0)
		_exit(refuses_other_file_system() ? 0 : 1);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
}
END_TEST

static void make_link(const char *target, const char *name)
{
	_cleanup_free_ char *path = xasprintf("%s/%s", dir, name);

	ck_assert_int_eq(symlink(target, path), 0);
}

START_TEST(links_cannot_leave_the_root)
{
	_cleanup_close_ int root = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	_cleanup_close_ int inside = -1;
	struct stat st;

	write_file(1, "passwd", "inside");
	make_link("/etc", "etc");
	make_link("/1/passwd", "absolute");
	make_link("../../../../../../etc/hostname", "up");
	ck_assert_int_lt(inroot_open(root, "/etc/passwd", 0), 0);
	ck_assert_int_lt(inroot_open(root, "up", 0), 0);
	ck_assert_int_lt(inroot_open(root, "/../etc/hostname", 0), 0);
	ck_assert_int_lt(inroot_open_regular(root, "absolute", O_NOFOLLOW, &st), 0);
	ck_assert_int_eq(inroot_open(root, "/1/none", 0), -ENOENT);
	inside = inroot_open(root, "/1//passwd", 0);
	ck_assert_int_ge(inside, 0);
	ck_assert_int_ne(fcntl(inside, F_GETFD) & FD_CLOEXEC, 0);
}
END_TEST

/* Opening has side effects: a FIFO unblocks its writer, /dev/watchdog starts to count. */
START_TEST(non_regular_file_is_not_opened)
{
	_cleanup_close_ int root = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	_cleanup_close_ int watch = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	_cleanup_close_ int file = -1;
	_cleanup_free_ char *fifo = xasprintf("%s/fifo", dir);
	char event[sizeof(struct inotify_event) + NAME_MAX + 1];
	struct stat st;

	ck_assert_int_eq(mkfifo(fifo, 0600), 0);
	ck_assert_int_ge(inotify_add_watch(watch, dir, IN_OPEN), 0);
	ck_assert_int_eq(inroot_open_regular(root, "fifo", 0, &st), -EINVAL);
	ck_assert_int_lt(read(watch, event, sizeof(event)), 0);
	write_file(1, "passwd", "inside");
	file = inroot_open_regular(root, "1/passwd", O_NOFOLLOW, &st);
	ck_assert_int_ge(file, 0);
	ck_assert_int_eq(st.st_size, 6);
	ck_assert_int_eq(read(file, event, sizeof(event)), 6);
	ck_assert_int_ne(fcntl(file, F_GETFD) & FD_CLOEXEC, 0);
	make_link("1/passwd", "link");
	ck_assert_int_eq(inroot_open_regular(root, "link", O_NOFOLLOW, &st), -ELOOP);
}
END_TEST

/* Drops all capabilities except those of `mask`; ends the process if this fails. */
static void keep_capabilities(uint32_t mask)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2] = { { mask, mask, 0 }, { 0, 0, 0 } };

	if (syscall(SYS_capset, &head, data) < 0)
		_exit(10);
}

/* Forks a process of another user that is dumpable, like a process after execve(2). */
static pid_t fork_user(uid_t id)
{
	int ready[2];
	char byte;
	pid_t pid;

	ck_assert_int_eq(pipe(ready), 0);
	pid = fork();
	if (pid == 0) {
		if (setgroups(0, NULL) < 0 || setresgid(id, id, id) < 0 ||
		    setresuid(id, id, id) < 0 || prctl(PR_SET_DUMPABLE, 1) < 0 ||
		    write(ready[1], "", 1) != 1)
			_exit(1);
		for (;;)
			(void)pause();
	}
	ck_assert_int_eq(read(ready[0], &byte, 1), 1);
	return pid;
}

/* Returns 0 if the process's files in /proc can be opened and our ids are unchanged after that. */
static int look_into(pid_t pid)
{
	_cleanup_close_ int maps = procfs_openat(&proc, pid, "maps", O_RDONLY);
	_cleanup_free_ char *cwd = procfs_readlink(&proc, pid, "cwd");
	struct stat st;

	if (maps < 0 || !cwd || procfs_stat(&proc, pid, "ns/user", &st) < 0)
		return 1;
	return setfsuid((uid_t)-1) == 0 && setfsgid((gid_t)-1) == 0 ? 0 : 2;
}

START_TEST(root_without_sys_ptrace_looks_into_other_users_processes)
{
	const uint32_t ids = CAP_TO_MASK(CAP_SETUID) | CAP_TO_MASK(CAP_SETGID);
	const struct {
		uint32_t mask;
		int wanted;
	} cases[] = {
		{ ids, 0 },
		{ ids | CAP_TO_MASK(CAP_DAC_OVERRIDE), 0 },
		{ CAP_TO_MASK(CAP_DAC_OVERRIDE), 1 },
		{ CAP_TO_MASK(CAP_SETUID), 1 },
	};
	pid_t user, child;
	int status;

	if (geteuid() != 0 || !capabilities_has(CAP_SETUID)) {
		fprintf(stderr, "skipped: only root can start another user's process\n");
		return;
	}
	user = fork_user(4321);
	child = fork();
	if (child == 0) {
		keep_capabilities(cases[_i].mask);
		_exit(look_into(user));
	}
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	(void)kill(user, SIGKILL);
	(void)waitpid(user, NULL, 0);
	ck_assert(WIFEXITED(status));
	ck_assert_int_eq(WEXITSTATUS(status), cases[_i].wanted);
}
END_TEST

START_TEST(process_set_tells_processes_by_pid_and_start)
{
	struct process_set set = { 0 };
	struct proc_status status;
	struct procfs live;

	ck_assert_int_eq(procfs_open(&live, "/proc"), 0);
	ck_assert_int_eq(procfs_status(&live, getpid(), &status), 0);
	ck_assert(!process_set_has(&set, &live, getpid()));
	process_set_add(&set, getpid(), status.start_ticks + 1);
	ck_assert(!process_set_has(&set, &live, getpid()));
	process_set_add(&set, getpid(), status.start_ticks);
	process_set_add(&set, getpid(), status.start_ticks);
	ck_assert_uint_eq(set.n, 2);
	ck_assert(process_set_has(&set, &live, getpid()));
	for (pid_t pid = 1; pid <= PROCESS_SET_MAX; pid++)
		process_set_add(&set, pid, 0);
	ck_assert_uint_eq(set.n, PROCESS_SET_MAX);
	set.n = SIZE_MAX; /* written by a hostile child */
	ck_assert(process_set_has(&set, &live, getpid()));
	procfs_close(&live);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("proc/procfs");
	TCase *tc = tcase_create("proc/procfs");
	SRunner *sr = srunner_create(s);
	int failed;

	suite_add_tcase(s, tc);
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, pids_are_sorted_and_include_this_process);
	tcase_add_test(tc, only_proc_of_the_own_namespace_is_own);
	tcase_add_test(tc, status_has_ids_and_signals);
	tcase_add_test(tc, process_name_cannot_forge_fields);
	tcase_add_test(tc, killed_process_is_exiting);
	tcase_add_test(tc, usage_is_in_bytes_and_seconds);
	tcase_add_test(tc, link_that_cannot_be_read_has_a_reason);
	tcase_add_test(tc, maps_are_searched_across_read_blocks);
	tcase_add_test(tc, maps_visit_every_line);
	tcase_add_test(tc, threads_are_counted_and_named);
	tcase_add_test(tc, links_cannot_leave_the_root);
	tcase_add_test(tc, proc_must_be_procfs);
	tcase_add_test(tc, non_regular_file_is_not_opened);
	tcase_add_test(tc, process_set_tells_processes_by_pid_and_start);
	tcase_add_loop_test(tc, root_without_sys_ptrace_looks_into_other_users_processes, 0, 4);
	srunner_run_all(sr, CK_NORMAL);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed != 0;
}
