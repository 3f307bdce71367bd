#include "sandbox/bpf_program.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/seccomp.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined __x86_64__ && !defined __ILP32__
#define ARCH AUDIT_ARCH_X86_64
#elif defined __aarch64__ && defined __LP64__ && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define ARCH AUDIT_ARCH_AARCH64
#else
#define ARCH 0
#endif

/*
 * On x86-64, system call numbers with this bit are those of the x32 ABI.  On aarch64, no system
 * call has such a number.
 */
#define X32_BIT 0x40000000u
#define REFUSE (SECCOMP_RET_ERRNO | EPERM)

#define LOAD(field) \
	BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (uint32_t)offsetof(struct seccomp_data, field))
#define JUMP(op, value, yes, no) BPF_JUMP(BPF_JMP | (op) | BPF_K, (value), (yes), (no))
#define RETURN(value) BPF_STMT(BPF_RET | BPF_K, (value))

/* The sorted system calls, and the program that searches them. */
struct search {
	int calls[SECCOMP_CALLS_MAX];
	struct sock_filter *prog;
	/*
	 * index of the instruction that ends the program for a system call that is not in `calls`;
	 * the next instruction ends it for a system call in `calls`
	 */
	int other;
};

static int by_number(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

/*
 * Returns the number of instructions of a search among n calls: n that test for equality, and n - 1
 * that branch between neighbouring calls.
 */
static int length(size_t n)
{
	return n == 0 ? 0 : 2 * (int)n - 1;
}

/* Adds a binary search among calls[first] to calls[end - 1], from instruction `at` on. */
static void add_search(const struct search *s, int at, size_t first, size_t end)
{
	size_t mid = first + (end - first) / 2;
	uint32_t call = (uint32_t)s->calls[mid];

	if (end - first == 1) {
		s->prog[at] = (struct sock_filter)JUMP(BPF_JEQ, call, (uint8_t)(s->other - at),
						       (uint8_t)(s->other - at - 1));
		return;
	}
	s->prog[at] = (struct sock_filter)JUMP(BPF_JGE, call, (uint8_t)length(mid - first), 0);
	add_search(s, at + 1, first, mid);
	add_search(s, at + 1 + length(mid - first), mid, end);
}

int bpf_program_build(const struct seccomp_list *list,
			 struct sock_filter prog[SECCOMP_PROGRAM_MAX])
{
	const struct sock_filter head[] = {
		LOAD(arch),
		JUMP(BPF_JEQ, ARCH, 1, 0),
		RETURN(SECCOMP_RET_KILL_PROCESS),
		LOAD(nr),
		JUMP(BPF_JGE, X32_BIT, 0, 1),
		RETURN(SECCOMP_RET_KILL_PROCESS),
	};
	struct search s = { .prog = prog, .other = (int)ARRAY_SIZE(head) + length(list->n) };

	if (ARCH == 0)
		return -EOPNOTSUPP;
	if (list->n > SECCOMP_CALLS_MAX)
		return -E2BIG;
	memcpy(prog, head, sizeof(head));
	if (list->n > 0) {
		memcpy(s.calls, list->calls, list->n * sizeof(*s.calls));
		qsort(s.calls, list->n, sizeof(*s.calls), by_number);
		add_search(&s, (int)ARRAY_SIZE(head), 0, list->n);
	}
	prog[s.other] = (struct sock_filter)RETURN(list->allow ? REFUSE : SECCOMP_RET_ALLOW);
	prog[s.other + 1] = (struct sock_filter)RETURN(list->allow ? SECCOMP_RET_ALLOW : REFUSE);
	return s.other + 2;
}

/*
 * Applies the program.  Without the flag SECCOMP_FILTER_FLAG_SPEC_ALLOW, kernels before 5.16 turn
 * off speculation in the process, which then runs slowly.
 */
static int apply(const struct sock_fprog *prog)
{
	const unsigned flag = SECCOMP_FILTER_FLAG_SPEC_ALLOW;

	if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flag, prog) == 0)
		return 0;
	if (errno == EINVAL && syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, prog) == 0)
		return 0; /* EINVAL: Linux before 4.17 does not know the flag */
	return -errno;
}

int bpf_program_apply(const struct seccomp_list *list)
{
	struct sock_filter prog[SECCOMP_PROGRAM_MAX];
	int n = bpf_program_build(list, prog);
	const struct sock_fprog fprog = { (unsigned short)(n < 0 ? 0 : n), prog };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return -errno;
	return n < 0 ? n : apply(&fprog);
}
