/*
 * A cloned child, in a process without a JVM.  Whatever the child does and however it ends, it has
 * no effect on its parent, and the parent notices its end.
 */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/futex.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "jvm/snapshot/confine.h"
#include "jvm/snapshot/snapshot.h"
#include "jvm/snapshot/walk_order.h"
#include "wire/frame.h"

#define LIFE_MS 50000
#define FRAME 77

static struct ag_mem mem = { .budget = 1 << 24 };
static struct ag_jvm jvm = { .mem = &mem };
static struct ag_chan client;
static int client_end;
static uint8_t payload[AG_CHAN_PAYLOAD];

static void connect_client(void)
{
	int ends[2];

	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends), 0);
	ck_assert_int_eq(ag_chan_init(&client, &mem, ends[0]), 0);
	client_end = ends[1];
}

static void prepare(struct ag_snapshot *s, uint32_t life_ms)
{
	connect_client();
	ck_assert_int_eq(ag_snapshot_init(s, &jvm, life_ms), 0);
}

/* Clones this process.  The child calls `run` and exits with its result. */
static void clone_it(struct ag_snapshot *s, int (*run)(struct ag_chan *chan))
{
	struct ag_chan chan = client;

	ag_snapshot_clone(s, &chan);
	if (s->inside)
		ag_exit(run(&chan));
	ck_assert_uint_eq(s->why, WIRE_SNAPSHOT_DONE);
	ck_assert_int_gt(s->child, 0);
}

static void take(struct ag_snapshot *s, uint32_t life_ms, int (*run)(struct ag_chan *chan))
{
	prepare(s, life_ms);
	clone_it(s, run);
}

static int receive(struct ag_snapshot *s)
{
	struct wire_writer w = wire_writer_init(payload, sizeof(payload));

	return ag_snapshot_receive(s, &client, &w);
}

/* Releases the snapshot, and checks that nothing is left in this process. */
static void end(struct ag_snapshot *s)
{
	ag_snapshot_release(s);
	ck_assert_int_eq(waitpid(-1, NULL, __WALL), -1);
	ck_assert_int_eq(errno, ECHILD);
	ag_chan_release(&client);
	ag_chan_close(&client);
	(void)close(client_end);
	ck_assert_uint_eq(mem.bytes, 0);
}

/* Expects that the child ends without a frame. */
static void expect(int (*run)(struct ag_chan *), uint32_t life_ms, uint32_t why, int code)
{
	struct ag_snapshot s;

	take(&s, life_ms, run);
	ck_assert_int_eq(receive(&s), 0);
	ck_assert_uint_eq(s.why, why);
	if (code >= 0)
		ck_assert_int_eq(s.code, code);
	end(&s);
}

static int send_frame(struct ag_chan *chan)
{
	wire_put_u32(ag_chan_begin(chan), 4711);
	return ag_chan_end(chan, FRAME) == 0 && ag_chan_flush(chan) == 0 ? AG_CHILD_DONE : 1;
}

START_TEST(child_sends_frames)
{
	struct ag_snapshot s;

	take(&s, LIFE_MS, send_frame);
	ck_assert_int_eq(receive(&s), FRAME);
	ck_assert_mem_eq(payload, "\0\0\x12\x67", 4);
	ck_assert_int_eq(receive(&s), 0); /* the child has ended without a last frame */
	ck_assert_uint_eq(s.why, WIRE_SNAPSHOT_ENDED);
	end(&s);
}
END_TEST

static int exit_shared(struct ag_chan *chan)
{
	(void)chan;
	return AG_CHILD_SHARED;
}

static int exit_late(struct ag_chan *chan)
{
	(void)chan;
	return AG_CHILD_ERRNO + ENOSYS;
}

static int crash(struct ag_chan *chan)
{
	volatile int *page = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	(void)chan;
	*page = 1;
	return 1;
}

static volatile sig_atomic_t signalled;

static void on_signal(int signal)
{
	(void)signal;
	signalled = 1;
	ag_exit(1);
}

START_TEST(exit_codes_are_explained)
{
	expect(exit_shared, LIFE_MS, WIRE_SNAPSHOT_SHARED, 0);
	expect(exit_late, LIFE_MS, WIRE_SNAPSHOT_CONFINE, ENOSYS);
}
END_TEST

/* HotSpot's handler of SIGSEGV would write a crash report. */
START_TEST(crash_runs_no_handler)
{
	signal(SIGSEGV, on_signal);
	expect(crash, LIFE_MS, WIRE_SNAPSHOT_SIGNAL, SIGSEGV);
	ck_assert_int_eq(signalled, 0);
}
END_TEST

static int wait_for_lock(struct ag_chan *chan)
{
	static uint32_t lock = 2;

	(void)chan;
	return (int)syscall(SYS_futex, &lock, FUTEX_WAIT | FUTEX_PRIVATE_FLAG, 2, NULL, NULL, 0);
}

static int spin_politely(struct ag_chan *chan)
{
	(void)chan;
	return (int)syscall(SYS_sched_yield);
}

static int wake(struct ag_chan *chan)
{
	static uint32_t lock;

	(void)chan;
	return syscall(SYS_futex, &lock, FUTEX_WAKE, 1, NULL, NULL, 0) == 0 ? 42 : 1;
}

START_TEST(locks_that_nobody_releases_end_the_child)
{
	expect(wait_for_lock, LIFE_MS, WIRE_SNAPSHOT_LOCKED, SIGSYS);
	expect(spin_politely, LIFE_MS, WIRE_SNAPSHOT_LOCKED, SIGSYS);
	expect(wake, LIFE_MS, WIRE_SNAPSHOT_ENDED, 42);
}
END_TEST

/* A signal of the child could reach a thread of the JVM, because musl caches thread ids. */
static int signal_parent(struct ag_chan *chan)
{
	(void)chan;
	return (int)syscall(SYS_kill, getppid(), SIGKILL);
}

static int open_file(struct ag_chan *chan)
{
	(void)chan;
	return syscall(SYS_openat, AT_FDCWD, "/dev/null", O_RDONLY) < 0 ? errno : 0;
}

START_TEST(child_can_do_nothing)
{
	expect(signal_parent, LIFE_MS, WIRE_SNAPSHOT_LOCKED, SIGSYS);
	expect(open_file, LIFE_MS, WIRE_SNAPSHOT_ENDED, EPERM);
}
END_TEST

static volatile int *shared;

static int write_shared(struct ag_chan *chan)
{
	(void)chan;
	*shared = 7;
	return 1;
}

/* ZGC's heap is a shared mapping. */
START_TEST(shared_memory_is_read_only)
{
	shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	*shared = 5;
	expect(write_shared, LIFE_MS, WIRE_SNAPSHOT_SIGNAL, SIGSEGV);
	ck_assert_int_eq(*shared, 5);
	*shared = 6; /* still writable in the parent */
}
END_TEST

static int wait_forever(struct ag_chan *chan)
{
	(void)chan;
	while (syscall(SYS_ppoll, NULL, 0, NULL, NULL, 0) <= 0)
		continue;
	return 1;
}

START_TEST(child_ends_at_its_deadline)
{
	expect(wait_forever, 200, WIRE_SNAPSHOT_LATE, SIGALRM);
}
END_TEST

START_TEST(child_without_progress_is_given_up)
{
	struct ag_snapshot s;

	take(&s, LIFE_MS, wait_forever);
	ck_assert_int_eq(receive(&s), 0);
	ck_assert_uint_eq(s.why, WIRE_SNAPSHOT_HUNG);
	end(&s);

	take(&s, LIFE_MS, wait_forever);
	ck_assert_int_eq(kill(s.child, SIGSTOP), 0);
	ck_assert_int_eq(receive(&s), 0);
	ck_assert_uint_eq(s.why, WIRE_SNAPSHOT_HUNG);
	end(&s);
}
END_TEST

START_TEST(child_may_be_killed)
{
	struct ag_snapshot s;

	take(&s, LIFE_MS, wait_forever);
	ck_assert_int_eq(kill(s.child, SIGKILL), 0);
	ck_assert_int_eq(receive(&s), 0);
	ck_assert_uint_eq(s.why, WIRE_SNAPSHOT_SIGNAL);
	ck_assert_int_eq(s.code, SIGKILL);
	end(&s);
}
END_TEST

START_TEST(child_ends_with_the_client)
{
	struct ag_snapshot s;

	take(&s, LIFE_MS, wait_forever);
	(void)close(client_end);
	ck_assert_int_eq(receive(&s), -1);
	ck_assert(client.broken);
	client_end = -1;
	end(&s);
}
END_TEST

static int send_and_wait(struct ag_chan *chan)
{
	return send_frame(chan) == AG_CHILD_DONE ? wait_forever(chan) : 1;
}

/* From now on the system call `nr` fails with `error`. */
static void refuse(uint32_t nr, uint32_t error)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, nr, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { sizeof(code) / sizeof(code[0]), code };

	ck_assert_int_eq(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
	ck_assert_int_eq(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program), 0);
}

/*
 * The child has no copies of descriptors: the application can close a file while it runs.
 * close_range() fails (1, 2), as on Linux before 5.9; descriptor 0 is free (2).
 */
START_TEST(child_has_no_descriptors)
{
	struct ag_snapshot s;
	int ends[2], high;
	char c;

	if (_i > 0) {
		refuse(SYS_close_range, ENOSYS);
		ck_assert_int_eq((int)syscall(SYS_close_range, 2000u, 2000u, 0u), -1);
	}
	ck_assert_int_eq(pipe(ends), 0);
	high = dup2(ends[1], 1000);
	ck_assert_int_eq(high, 1000);
	prepare(&s, LIFE_MS);
	ck_assert_int_eq(_i == 2 ? close(0) : 0, 0);
	clone_it(&s, send_and_wait);
	ck_assert_int_eq(receive(&s), FRAME);
	(void)close(ends[1]);
	(void)close(high);
	ck_assert_int_eq((int)read(ends[0], &c, 1), 0);
	ck_assert_int_eq(kill(s.child, 0), 0);
	end(&s);
}
END_TEST

/* The application sees no SIGCHLD, and no child that it did not start. */
START_TEST(application_does_not_see_the_child)
{
	struct ag_snapshot s;

	signal(SIGCHLD, on_signal);
	take(&s, LIFE_MS, wait_forever);
	ck_assert_int_eq(waitpid(-1, NULL, WNOHANG), -1);
	ck_assert_int_eq(errno, ECHILD);
	end(&s);
	ck_assert_int_eq(signalled, 0);
}
END_TEST

static volatile int forked;

static void on_fork(void)
{
	forked++;
}

/* An application's handlers may take locks that another thread holds for long. */
START_TEST(fork_handlers_do_not_run)
{
	struct ag_snapshot s;

	ck_assert_int_eq(pthread_atfork(on_fork, on_fork, on_fork), 0);
	take(&s, LIFE_MS, wait_forever);
	end(&s);
	ck_assert_int_eq(forked, 0);
}
END_TEST

/* Takes a snapshot in a process of its own, which then exits, and returns the child's id. */
static pid_t orphan(void)
{
	struct ag_snapshot s;
	pid_t child = 0;
	int ends[2];

	ck_assert_int_eq(pipe(ends), 0);
	if (fork() == 0) {
		take(&s, LIFE_MS, wait_forever);
		(void)!write(ends[1], &s.child, sizeof(s.child));
		_exit(0);
	}
	ck_assert_int_eq((int)read(ends[0], &child, sizeof(child)), (int)sizeof(child));
	return child;
}

/* Returns whether the process exists and is not a zombie. */
static bool is_alive(pid_t pid)
{
	char path[32], state = 'X';
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	file = fopen(path, "r");
	if (!file)
		return false;
	if (fscanf(file, "%*d (%*[^)]) %c", &state) != 1)
		state = 'X';
	(void)fclose(file);
	return state != 'Z' && state != 'X';
}

START_TEST(child_ends_with_the_jvm)
{
	pid_t child = orphan();

	ck_assert_int_gt(child, 0);
	for (int i = 0; is_alive(child); i++) {
		ck_assert_int_lt(i, 3000);
		(void)poll(NULL, 0, 10);
	}
}
END_TEST

/* Refused reads: the state of the child is not known, so it does not count as busy. */
START_TEST(child_with_an_unknown_state_is_given_up)
{
	int status;
	pid_t pid = fork(); /* sanitizers need read(2) at the end of the test */

	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		struct ag_snapshot s;

		take(&s, LIFE_MS, wait_forever);
		refuse(SYS_read, EIO);
		(void)receive(&s);
		ag_snapshot_release(&s);
		_exit(s.why == WIRE_SNAPSHOT_HUNG ? 0 : 1);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
}
END_TEST

START_TEST(refused_clone_is_reported)
{
	struct rlimit before, few;
	struct ag_snapshot s;

	if (geteuid() == 0)
		ck_assert_int_eq(setuid(65534), 0); /* root has no limit of processes */
	ck_assert_int_eq(getrlimit(RLIMIT_NPROC, &before), 0);
	few = (struct rlimit){ 0, before.rlim_max };
	ck_assert_int_eq(setrlimit(RLIMIT_NPROC, &few), 0);
	prepare(&s, LIFE_MS);
	ag_snapshot_clone(&s, &client);
	ck_assert_uint_eq(s.why, WIRE_SNAPSHOT_CLONE);
	ck_assert_int_eq(s.code, EAGAIN);
	ck_assert_int_eq(setrlimit(RLIMIT_NPROC, &before), 0); /* sanitizers need a process */
	end(&s);
}
END_TEST

static void add_line(struct ag_shared_maps *maps, const char *line)
{
	ag_shared_maps_line(maps, line, strlen(line), NULL);
}

START_TEST(shared_mappings_are_found)
{
	static struct ag_shared_maps maps;

	add_line(&maps, "00400000-00500000 rw-p 00000000 08:01 1  /bin/a");
	add_line(&maps, "c0000000-c8000000 rw-s 00000000 00:01 2  /memfd:java_heap (deleted)");
	add_line(&maps, "c8000000-c9000000 rw-s 08000000 00:01 2  /memfd:java_heap (deleted)");
	add_line(&maps, "d0000000-d1000000 r--s 00000000 00:01 3  /data");
	add_line(&maps, "7f0000001000-7f0000002000 -w-s 00000000 00:01 3");
	add_line(&maps, "broken");
	add_line(&maps, "7f0000001000-7f");
	ck_assert_uint_eq(maps.n, 2);
	ck_assert(!ag_shared_maps_has(&maps, 0x400000));
	ck_assert(!ag_shared_maps_has(&maps, 0xbfffffff));
	ck_assert(ag_shared_maps_has(&maps, 0xc0000000));
	ck_assert(ag_shared_maps_has(&maps, 0xc8ffffff));
	ck_assert(!ag_shared_maps_has(&maps, 0xc9000000));
	ck_assert(!ag_shared_maps_has(&maps, 0xd0000000));
	ck_assert(ag_shared_maps_has(&maps, 0x7f0000001fff));
	ck_assert(!ag_shared_maps_has(&maps, 0x7f0000002000));
	/* More mappings than fit: the last range covers all further ones. */
	for (unsigned i = 0; i < 2 * AG_SHARED_MAPS_MAX; i++) {
		char line[64];

		snprintf(line, sizeof(line), "8f00000%05x000-8f00000%05x800 rw-s 0", i, i);
		add_line(&maps, line);
	}
	ck_assert_uint_eq(maps.n, AG_SHARED_MAPS_MAX);
	ck_assert(ag_shared_maps_has(&maps, 0x8f0000000001000));
	ck_assert(ag_shared_maps_has(&maps, 0x8f0000000fff000));
}
END_TEST

START_TEST(mapping_that_stays_writable_is_an_error)
{
	static const char line[] = "00001000-00002000 rw-s 00000000 00:01 3  /not/mapped";
	static struct ag_shared_maps maps;

	ag_shared_maps_line(&maps, line, strlen(line), NULL);
	ck_assert_int_eq(maps.error, 0);
	ag_shared_maps_line(&maps, line, strlen(line), &maps);
	ck_assert_int_eq(maps.error, ENOMEM);
}
END_TEST

START_TEST(own_mappings_are_found)
{
	static struct ag_shared_maps maps;
	void *here = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	ck_assert_int_eq(ag_shared_maps_read(&maps, NULL), 0);
	ck_assert(ag_shared_maps_has(&maps, (uint64_t)(uintptr_t)here + 5000));
	ck_assert(!ag_shared_maps_has(&maps, (uint64_t)(uintptr_t)&maps));
	ck_assert(!ag_shared_maps_has(&maps, (uint64_t)(uintptr_t)&here));
}
END_TEST

/* Checks that the layout of an Object[] is found by its three elements. */
static void expect_layout(const void *array, const uint64_t *elements, unsigned offset,
			  bool is_narrow, unsigned shift)
{
	struct ag_array_layout layout;

	ck_assert(ag_array_layout_find(&layout, (uint64_t)(uintptr_t)array, elements, 3));
	ck_assert_uint_eq(layout.offset, offset);
	ck_assert_int_eq(layout.is_narrow, is_narrow);
	ck_assert_uint_eq(layout.shift, shift);
}

START_TEST(array_layouts_are_found)
{
	static const uint64_t at[] = { 0xc0000100, 0xc0000200, 0xc0000378 };
	static const uint64_t far[] = { 0xa00000100, 0xa00000200, 0xa00000378 };
	_Alignas(8) uint32_t narrow[64] = { 1, 0, 9, 3, 0x18000020, 0x18000040, 0x1800006f };
	_Alignas(8) uint32_t compact[64] = { 1, 0, 3, 0xc0000100, 0xc0000200, 0xc0000378 };
	_Alignas(8) uint32_t based[64] = { 1, 0, 9, 3, 0x20, 0x40, 0x6f };
	uint64_t wide[64] = { 1, 7, 3, 0xc0000100, 0xc0000200, 0xc0000378 };
	struct ag_array_layout layout;

	expect_layout(narrow, at, 16, true, 3);
	expect_layout(compact, at, 12, true, 0);
	expect_layout(based, far, 16, true, 3);
	expect_layout(wide, at, 24, false, 0);
	wide[5]++;
	ck_assert(!ag_array_layout_find(&layout, (uint64_t)(uintptr_t)wide, at, 3));
}
END_TEST

/* The callbacks of a walk in HotSpot's order; the table is at `at`, the tail at 0x20. */
START_TEST(walk_order_is_followed)
{
	_Alignas(8) uint64_t table[10] = { 0 };
	uint64_t at = (uint64_t)(uintptr_t)table;
	const void *slots[] = { table, (const void *)0x20 };
	struct ag_walk_order o = {
		.table = (jobject)&slots[0], .tail = (jobject)&slots[1], .room = 8,
	};
	const struct ag_array_layout wide = { .offset = 16 };
	const jvmtiHeapReferenceKind class = JVMTI_HEAP_REFERENCE_CLASS,
				     element = JVMTI_HEAP_REFERENCE_ARRAY_ELEMENT;

	struct ag_hash_entry map[16] = { 0 };

	o.noted = (struct ag_hash_map){ .slots = map, .shift = 60, .max = 6 };
	ag_walk_order_begin(&o);
	ck_assert_int_eq(ag_walk_order_step(&o, 0, 0, 0x100, 0), AG_STEP_NOTE);
	ck_assert(ag_walk_order_note(&o, 0x100));
	ck_assert(ag_walk_order_note(&o, 0x100));
	ck_assert(ag_walk_order_note(&o, 0x200));
	ck_assert(ag_walk_order_note(&o, 0x20));
	ck_assert_int_eq(ag_walk_order_step(&o, 0, 0, at, 0), AG_STEP_ACCEPT);
	ck_assert_int_eq(ag_walk_order_step(&o, class, 0x100, 0x300, 0), AG_STEP_LOST);
	ck_assert_int_eq(ag_walk_order_step(&o, class, at, 0x300, 0), AG_STEP_SKIP);
	ck_assert_int_eq(ag_walk_order_step(&o, element, at, 0x300, 1), AG_STEP_LOST);
	ck_assert_int_eq(ag_walk_order_step(&o, element, at, 0x300, 0), AG_STEP_FILL);
	ag_walk_order_fill(&o, &wide);
	ck_assert_uint_eq(table[3], 0x20);
	ck_assert_uint_eq(table[4] + table[5], 0x300); /* in any order, each once */
	ck_assert_uint_eq(table[6], 0);
	ck_assert_int_eq(ag_walk_order_step(&o, element, at, 0x300, 0), AG_STEP_LOST);
	ck_assert_int_eq(ag_walk_order_step(&o, element, at, 0x20, 1), AG_STEP_ACCEPT);
	ck_assert_int_eq(ag_walk_order_step(&o, 0, 0, 0x400, 0), AG_STEP_VISIT);
	ck_assert_int_eq(ag_walk_order_step(&o, class, 0x100, 0x300, 0), AG_STEP_VISIT);
	ck_assert_int_eq(ag_walk_order_step(&o, class, 0x20, 0x300, 0), AG_STEP_SKIP);
	ck_assert_int_eq(ag_walk_order_step(&o, element, 0x20, 0x30, 0), AG_STEP_END);
	for (uint64_t i = 3; i <= 5; i++)
		ck_assert(ag_walk_order_note(&o, i * 0x100));
	ck_assert(ag_walk_order_note(&o, 0x600));
	ck_assert(!ag_walk_order_note(&o, 0x700)); /* there is room for 6 */
}
END_TEST

int main(void)
{
	Suite *s = suite_create("agent/jvm/snapshot");
	TCase *c = tcase_create("snapshot");
	SRunner *r;
	int failed;

	tcase_set_timeout(c, 60);
	tcase_add_test(c, child_sends_frames);
	tcase_add_test(c, exit_codes_are_explained);
	tcase_add_test(c, crash_runs_no_handler);
	tcase_add_test(c, locks_that_nobody_releases_end_the_child);
	tcase_add_test(c, child_can_do_nothing);
	tcase_add_test(c, shared_memory_is_read_only);
	tcase_add_test(c, child_ends_at_its_deadline);
	tcase_add_test(c, child_without_progress_is_given_up);
	tcase_add_test(c, child_may_be_killed);
	tcase_add_test(c, child_ends_with_the_client);
	tcase_add_loop_test(c, child_has_no_descriptors, 0, 3);
	tcase_add_test(c, application_does_not_see_the_child);
	tcase_add_test(c, fork_handlers_do_not_run);
	tcase_add_test(c, child_ends_with_the_jvm);
	tcase_add_test(c, child_with_an_unknown_state_is_given_up);
	tcase_add_test(c, refused_clone_is_reported);
	tcase_add_test(c, shared_mappings_are_found);
	tcase_add_test(c, mapping_that_stays_writable_is_an_error);
	tcase_add_test(c, own_mappings_are_found);
	tcase_add_test(c, array_layouts_are_found);
	tcase_add_test(c, walk_order_is_followed);
	suite_add_tcase(s, c);
	r = srunner_create(s);
	srunner_run_all(r, CK_ENV);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
