#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "sandbox/sandbox.h"
#include "sandbox/bpf_program.h"

static char dir[] = "/tmp/check_sandbox.XXXXXX";
static int dir_fd, pair[2];

static void setup(void)
{
	ck_assert_ptr_nonnull(mkdtemp(dir));
	dir_fd = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	ck_assert_int_ge(dir_fd, 0);
	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
}

static void teardown(void)
{
	ck_assert_int_eq(rmdir(dir), 0);
	(void)close(dir_fd);
}

/* Calls that are refused do not reach the kernel: their arguments may be anything. */
static long execute(void)
{
	return syscall(SYS_execve, NULL, NULL, NULL);
}

static long trace(void)
{
	return syscall(SYS_ptrace, PTRACE_PEEKDATA, 0, NULL, NULL);
}

static long read_memory(void)
{
	return syscall(SYS_process_vm_readv, 0, NULL, 0UL, NULL, 0UL, 0UL);
}

static long mount_something(void)
{
	return syscall(SYS_mount, NULL, NULL, NULL, 0UL, NULL);
}

static long load_bpf(void)
{
	return syscall(SYS_bpf, 0, NULL, 0);
}

static long make_socket(void)
{
	return socket(AF_UNIX, SOCK_STREAM, 0);
}

static long connect_socket(void)
{
	return connect(-1, NULL, 0);
}

static long send_signal(void)
{
	return kill(getpid(), 0);
}

static long start_process(void)
{
	pid_t pid = fork();

	if (pid == 0)
		_exit(0);
	return pid < 0 ? -1 : waitpid(pid, NULL, 0);
}

static long change_id(void)
{
	return setresuid(geteuid(), geteuid(), geteuid());
}

static long make_node(void)
{
	return mknodat(-1, "", S_IFCHR, 0);
}

static long open_file(void)
{
	int fd = open("/proc/self/stat", O_RDONLY | O_CLOEXEC);

	return fd < 0 ? -1 : close(fd);
}

static long make_files(void)
{
	int fd = openat(dir_fd, "file", O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	if (fd < 0 || write(fd, "x", 1) != 1 || close(fd) < 0 || mkdirat(dir_fd, "d", 0700) < 0 ||
	    renameat(dir_fd, "file", dir_fd, "d/file") < 0 || unlinkat(dir_fd, "d/file", 0) < 0)
		return -1;
	return unlinkat(dir_fd, "d", AT_REMOVEDIR);
}

static long use_memory_and_time(void)
{
	struct pollfd pfd = { .fd = pair[0], .events = POLLIN };
	void *large = malloc(8u << 20);
	char text[8];

	if (!large)
		return -1;
	memset(large, 1, 8u << 20);
	free(large);
	(void)arc4random();
	return write(pair[1], "x", 1) == 1 && poll(&pfd, 1, 1000) == 1 &&
	       recv(pair[0], text, sizeof(text), 0) == 1 ? 0 : -1;
}

enum {
	CLIENT = 1 << SANDBOX_CLIENT,
	ANALYSIS = 1 << SANDBOX_FILE,
	STAGING = 1 << SANDBOX_STAGING,
	INSPECT = 1 << SANDBOX_INSPECT,
	ALL = CLIENT | ANALYSIS | STAGING | INSPECT,
};

static const struct {
	const char *name;
	long (*call)(void);
	int refused; /* the sandboxes that refuse it; before ANALYSIS, CLIENT is entered */
} calls[] = {
	{ "execve", execute, ALL },
	{ "ptrace", trace, ALL },
	{ "process_vm_readv", read_memory, ALL },
	{ "mount", mount_something, ALL },
	{ "bpf", load_bpf, ALL },
	{ "socket", make_socket, ANALYSIS | STAGING | INSPECT },
	{ "connect", connect_socket, ANALYSIS | STAGING | INSPECT },
	{ "setresuid", change_id, ANALYSIS | STAGING | INSPECT },
	{ "mknod", make_node, ANALYSIS | INSPECT },
	{ "kill", send_signal, STAGING | INSPECT },
	{ "fork", start_process, STAGING | INSPECT },
	{ "files", make_files, INSPECT },
	{ "open", open_file, 0 },
	{ "memory and time", use_memory_and_time, 0 },
};

static bool is_sanitized(void)
{
#ifdef __SANITIZE_ADDRESS__
	return true;
#else
	return false;
#endif
}

/* Returns a bit for each call that fails with EPERM in this sandbox; other results do not count. */
static int refused_in(enum sandbox_kind kind)
{
	int found[2], bits = 0;
	pid_t pid;

	ck_assert_int_eq(pipe(found), 0);
	pid = fork();
	if (pid == 0) {
		if (kind == SANDBOX_FILE && sandbox_enter(SANDBOX_CLIENT) < 0)
			_exit(10);
		if (sandbox_enter(kind) < 0)
			_exit(11);
		for (size_t i = 0; i < ARRAY_SIZE(calls); i++) {
			if (calls[i].call() < 0 && errno == EPERM)
				bits |= 1 << i;
		}
		_exit(write(found[1], &bits, sizeof(bits)) == sizeof(bits) ? 0 : 12);
	}
	(void)close(found[1]);
	ck_assert_int_eq(read(found[0], &bits, sizeof(bits)), sizeof(bits));
	(void)close(found[0]);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
	return bits;
}

START_TEST(each_sandbox_refuses_what_its_process_does_not_need)
{
	int bits = refused_in((enum sandbox_kind)_i);

	for (size_t i = 0; i < ARRAY_SIZE(calls); i++) {
		/* A build with sanitizers permits ptrace(2), because LeakSanitizer needs it. */
		if (is_sanitized() && calls[i].call == trace)
			continue;
		ck_assert_msg(!(bits >> i & 1) == !(calls[i].refused >> _i & 1),
			      "sandbox %d: %s: refused %d", _i, calls[i].name, bits >> i & 1);
	}
	if (_i == SANDBOX_INSPECT)
		(void)unlinkat(dir_fd, "file", 0); /* left by make_files() */
}
END_TEST

START_TEST(sandbox_sets_no_new_privileges)
{
	ck_assert_int_eq(prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0), 0);
	ck_assert_int_eq(sandbox_enter(SANDBOX_CLIENT), 0);
	ck_assert_int_eq(prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0), 1);
	ck_assert_int_eq(prctl(PR_GET_SECCOMP, 0, 0, 0, 0), SECCOMP_MODE_FILTER);
}
END_TEST

/* Interprets a seccomp filter as the kernel does.  Returns the action. */
static uint32_t run(const struct sock_filter *prog, int n, uint32_t arch, uint32_t nr)
{
	uint32_t a = 0;

	for (int i = 0; i < n; i++) {
		const struct sock_filter *in = &prog[i];

		switch (in->code) {
		case BPF_LD | BPF_W | BPF_ABS:
			a = in->k == offsetof(struct seccomp_data, arch) ? arch : nr;
			break;
		case BPF_JMP | BPF_JEQ | BPF_K:
			i += a == in->k ? in->jt : in->jf;
			break;
		case BPF_JMP | BPF_JGE | BPF_K:
			i += a >= in->k ? in->jt : in->jf;
			break;
		case BPF_RET | BPF_K:
			return in->k;
		default:
			ck_abort_msg("unknown instruction %x", in->code);
		}
	}
	ck_abort_msg("the program has no end");
}

START_TEST(programs_decide_by_number_and_architecture)
{
	int numbers[SECCOMP_CALLS_MAX + 1];
	struct sock_filter prog[SECCOMP_PROGRAM_MAX];
	struct seccomp_list list = { numbers, 0, _i };
	const uint32_t refuse = SECCOMP_RET_ERRNO | EPERM, allow = SECCOMP_RET_ALLOW;
	uint32_t arch;

	for (int i = 0; i <= SECCOMP_CALLS_MAX; i++)
		numbers[(i * 7) % (SECCOMP_CALLS_MAX + 1)] = 2 * i + 1;
	for (size_t n = 0; n <= SECCOMP_CALLS_MAX; n++) {
		bool listed[2 * SECCOMP_CALLS_MAX + 8] = { false };
		int len;

		list.n = n;
		len = bpf_program_build(&list, prog);
		if (len == -EOPNOTSUPP)
			return;
		ck_assert_int_gt(len, 0);
		arch = prog[1].k;
		for (size_t i = 0; i < n; i++)
			listed[numbers[i]] = true;
		for (uint32_t nr = 0; nr < ARRAY_SIZE(listed); nr++)
			ck_assert_uint_eq(run(prog, len, arch, nr),
					  listed[nr] == list.allow ? allow : refuse);
		ck_assert_uint_eq(run(prog, len, arch, 0x40000001), SECCOMP_RET_KILL_PROCESS);
		ck_assert_uint_eq(run(prog, len, AUDIT_ARCH_I386, 1), SECCOMP_RET_KILL_PROCESS);
	}
	list.n = SECCOMP_CALLS_MAX + 1;
	ck_assert_int_eq(bpf_program_build(&list, prog), -E2BIG);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("sandbox/sandbox");
	TCase *tc = tcase_create("sandbox/sandbox");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_loop_test(tc, each_sandbox_refuses_what_its_process_does_not_need, 0, 4);
	tcase_add_test(tc, sandbox_sets_no_new_privileges);
	tcase_add_loop_test(tc, programs_decide_by_number_and_architecture, 0, 2);
	suite_add_tcase(suite, tc);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
