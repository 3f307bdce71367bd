#include "jvm/snapshot/confine.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/futex.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#include "util/dirent.h"

#ifndef SYS_close_range
#define SYS_close_range 436 /* since Linux 5.9, on all architectures */
#endif
#if defined(__x86_64__)
#define ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define ARCHITECTURE AUDIT_ARCH_AARCH64
#else
#error "the numbers of this architecture's system calls are unknown"
#endif

#define SIGNALS 64
#define KERNEL_SIGSET 8 /* bytes of the kernel's sigset_t */

void ag_exit(int code)
{
	for (;;)
		(void)syscall(SYS_exit_group, code);
}

/*
 * Closes the descriptors that are listed in `entries`, which were read from /proc/self/fd, except
 * `keep` and `dir`.  Returns how many it closed.
 */
static long close_listed(char *entries, long len, long keep, long dir)
{
	long n = 0;

	for (long at = 0; at < len;) {
		const struct ag_dirent *e = (const struct ag_dirent *)(void *)(entries + at);
		long fd = 0;

		at += e->len;
		for (const char *digit = e->name; *digit >= '0' && *digit <= '9'; digit++)
			fd = fd * 10 + (*digit - '0');
		if (e->name[0] == '.' || fd == keep || fd == dir)
			continue;
		(void)syscall(SYS_close, fd); /* close(2) frees the descriptor even if it fails */
		n++;
	}
	return n;
}

/*
 * Closes all descriptors except `keep`, on Linux before 5.9, which has no close_range().  If a
 * directory changes while it is read, some entries may be skipped.  So /proc/self/fd is read again
 * until it lists no descriptor that must be closed.
 */
static int close_each(long keep, char *buffer, size_t size)
{
	long dir = syscall(SYS_openat, AT_FDCWD, "/proc/self/fd",
			   O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	long n, closed;

	if (dir < 0)
		return errno;
	do {
		closed = 0;
		(void)syscall(SYS_lseek, dir, 0, SEEK_SET); /* cannot fail for a directory */
		while ((n = syscall(SYS_getdents64, dir, buffer, size)) > 0)
			closed += close_listed(buffer, n, keep, dir);
	} while (closed > 0);
	(void)syscall(SYS_close, dir); /* a directory: nothing to flush */
	return 0;
}

static int close_others(const struct ag_confinement *c)
{
	unsigned keep = (unsigned)c->keep;

	if ((keep == 0 || syscall(SYS_close_range, 0u, keep - 1, 0u) == 0) &&
	    syscall(SYS_close_range, keep + 1, ~0u, 0u) == 0)
		return 0;
	return close_each(c->keep, c->maps->buffer, sizeof(c->maps->buffer));
}

/*
 * Restores the default action of all signals, because HotSpot's handlers would write a crash
 * report.  Blocks all signals but SIGALRM, with which a timer ends the child after life_ms.
 */
static int drop_handlers(const struct ag_confinement *c)
{
	static const uint64_t as_default[8]; /* struct sigaction of the kernel: SIG_DFL, no flags */
	const uint64_t blocked = ~(UINT64_C(1) << (SIGALRM - 1));
	const struct itimerval life = {
		.it_value = { c->life_ms / 1000, c->life_ms % 1000 * 1000 + 1 },
	};

	for (int signal = 1; signal <= SIGNALS; signal++) {
		if (signal != SIGKILL && signal != SIGSTOP &&
		    syscall(SYS_rt_sigaction, signal, as_default, NULL, KERNEL_SIGSET) != 0)
			return errno;
	}
	if (syscall(SYS_rt_sigprocmask, SIG_SETMASK, &blocked, NULL, KERNEL_SIGSET) != 0 ||
	    syscall(SYS_setitimer, ITIMER_REAL, &life, NULL) != 0)
		return errno;
	return 0;
}

/*
 * Lets the kernel kill the child when the VM thread of the JVM, which cloned the child, ends.
 * Returns 0; or an errno, which is ESRCH if the JVM has ended already.
 */
static int end_with(int parent)
{
	if (syscall(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) != 0)
		return errno;
	return syscall(SYS_getppid) == parent ? 0 : ESRCH;
}

/* Best effort: lets the kernel kill the child before the JVM if memory runs out. */
static void prefer_as_victim(void)
{
	long fd = syscall(SYS_openat, AT_FDCWD, "/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		return;
	(void)syscall(SYS_write, fd, "1000", 4); /* OOM_SCORE_ADJ_MAX */
	(void)syscall(SYS_close, fd);            /* nothing to flush */
}

/* Best effort: sets the process name that ps shows, and the scheduling policy SCHED_BATCH. */
static void become_ordinary(void)
{
	const int priority = 0;

	(void)syscall(SYS_prctl, PR_SET_NAME, "jtool snapshot", 0, 0, 0);
	(void)syscall(SYS_sched_setscheduler, 0, SCHED_BATCH, &priority);
}

/* Prevents core dumps of the child, and prevents other processes of the user from reading it. */
static int leave_no_core(void)
{
	static const uint64_t none[2]; /* struct rlimit64 with both limits 0 */

	if (syscall(SYS_prlimit64, 0, RLIMIT_CORE, none, NULL) != 0 ||
	    syscall(SYS_prctl, PR_SET_DUMPABLE, 0, 0, 0, 0) != 0)
		return errno;
	return 0;
}

#define AT(member) offsetof(struct seccomp_data, member)
#define LOAD(at) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (at))
#define RETURN(action) BPF_STMT(BPF_RET | BPF_K, (action))
#define ON(number, action) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (number), 0, 1), RETURN(action)
#define ALLOW(name) ON(SYS_##name, SECCOMP_RET_ALLOW)
/* RET_TRAP ends the child with SIGSYS.  Unlike RET_KILL it writes nothing to the audit log. */
#define END(name) ON(SYS_##name, SECCOMP_RET_TRAP)

/*
 * Permits only the system calls with which the child sends data and exits, and with which HotSpot
 * allocates memory and reads the time.  Of the other calls,
 * - a call that waits for another thread ends the child, because the child has no other thread;
 * - a call that sends a signal ends the child, because the signal could reach the JVM: when HotSpot
 *   aborts, it sends a signal to the thread id that musl has cached, and in the child this is the
 *   id of a thread of the JVM;
 * - every other call fails with EPERM.
 */
static int drop_calls(void)
{
	static const struct sock_filter filter[] = {
		LOAD(AT(arch)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ARCHITECTURE, 1, 0),
		RETURN(SECCOMP_RET_TRAP),
		LOAD(AT(nr)),
		ALLOW(sendto), ALLOW(mmap), ALLOW(munmap), ALLOW(mremap), ALLOW(mprotect),
		ALLOW(madvise), ALLOW(brk), ALLOW(clock_gettime), ALLOW(gettimeofday),
		ALLOW(exit_group), ALLOW(restart_syscall), ALLOW(ppoll),
		ALLOW(sigaltstack), /* called by the runtime of sanitizers */
#ifdef SYS_poll
		ALLOW(poll),
#endif
		END(kill), END(tkill), END(tgkill), END(sched_yield), END(nanosleep),
		END(clock_nanosleep), END(rt_sigtimedwait), END(exit),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_futex, 1, 0),
		RETURN(SECCOMP_RET_ERRNO | EPERM),
		LOAD(AT(args[1])), /* the low 32 bits: both architectures are little-endian */
		BPF_STMT(BPF_ALU | BPF_AND | BPF_K, (uint32_t)FUTEX_CMD_MASK),
		ON(FUTEX_WAKE, SECCOMP_RET_ALLOW),
		RETURN(SECCOMP_RET_TRAP),
	};
	const struct sock_fprog program = {
		.len = sizeof(filter) / sizeof(filter[0]),
		.filter = (struct sock_filter *)(uintptr_t)filter, /* the kernel only reads it */
	};

	if (syscall(SYS_prctl, PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
	    syscall(SYS_prctl, PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) != 0)
		return errno;
	return 0;
}

int ag_confine(const struct ag_confinement *c)
{
	int rc = close_others(c);

	if (rc == 0)
		rc = drop_handlers(c);
	if (rc == 0)
		rc = end_with(c->parent);
	if (rc != 0)
		return rc;
	become_ordinary();
	prefer_as_victim();
	rc = ag_shared_maps_read(c->maps, c->page);
	if (rc == 0)
		rc = leave_no_core();
	return rc == 0 ? drop_calls() : rc;
}
