#include "sandbox/sandbox.h"

#include <sys/prctl.h>
#include <sys/syscall.h>

#include "sandbox/bpf_program.h"

/*
 * IS_SANITIZED is 1 if jtool is built with AddressSanitizer.  ptrace(2) must then be permitted,
 * because LeakSanitizer stops the other threads of the process with ptrace(2).
 */
#ifndef __has_feature
#define __has_feature(x) 0
#endif
#if defined __SANITIZE_ADDRESS__ || __has_feature(address_sanitizer)
#define IS_SANITIZED 1
#else
#define IS_SANITIZED 0
#endif

/*
 * System calls that SANDBOX_CLIENT refuses.  If the headers at build time do not define the number
 * of a call, the call is not in the list; jtool's own code cannot make such a call.
 */
static const int client_calls[] = {
#if !IS_SANITIZED
	SYS_ptrace,
#endif
	SYS_execve, SYS_execveat, SYS_process_vm_readv, SYS_process_vm_writev, SYS_kcmp,
	SYS_mount, SYS_umount2, SYS_pivot_root, SYS_chroot, SYS_unshare,
#ifdef SYS_mount_setattr
	SYS_open_tree, SYS_move_mount, SYS_fsopen, SYS_fsconfig, SYS_fsmount, SYS_fspick,
	SYS_mount_setattr,
#endif
	SYS_open_by_handle_at, SYS_name_to_handle_at, SYS_quotactl, SYS_acct,
	SYS_init_module, SYS_finit_module, SYS_delete_module, SYS_kexec_load, SYS_reboot,
	SYS_swapon, SYS_swapoff, SYS_syslog, SYS_vhangup, SYS_sethostname, SYS_setdomainname,
	SYS_settimeofday, SYS_clock_settime, SYS_adjtimex, SYS_clock_adjtime,
	SYS_bpf, SYS_perf_event_open, SYS_userfaultfd, SYS_personality,
	SYS_add_key, SYS_request_key, SYS_keyctl,
#ifdef SYS_io_uring_setup
	SYS_io_uring_setup, SYS_io_uring_enter, SYS_io_uring_register,
#endif
#ifdef SYS_pidfd_getfd
	SYS_pidfd_getfd, SYS_process_madvise,
#endif
#ifdef SYS_kexec_file_load
	SYS_kexec_file_load,
#endif
#ifdef __x86_64__
	SYS_iopl, SYS_ioperm, SYS_modify_ldt,
#endif
};

/*
 * System calls that SANDBOX_FILE refuses.  socketpair(2) is permitted: jtool has a socket to the
 * child process that removes an incomplete result, see tmp_reaper.h.
 */
static const int file_calls[] = {
	SYS_socket, SYS_connect, SYS_bind, SYS_listen, SYS_accept, SYS_accept4,
	SYS_setuid, SYS_setgid, SYS_setreuid, SYS_setregid, SYS_setresuid, SYS_setresgid,
	SYS_setfsuid, SYS_setfsgid, SYS_setgroups, SYS_capset, SYS_setns, SYS_mknodat,
#ifdef SYS_mknod
	SYS_mknod,
#endif
	SYS_pidfd_send_signal,
};

/*
 * System calls that the C library, malloc(3) and the exit of a process need.  The last two in the
 * list, faccessat(2) and prlimit64(2), are for sanitizers.
 */
#define LIBRARY_CALLS \
	SYS_read, SYS_pread64, SYS_write, SYS_writev, SYS_close, SYS_lseek, SYS_fstat, \
	SYS_newfstatat, SYS_statx, SYS_fcntl, SYS_dup, SYS_dup3, SYS_ppoll, SYS_mmap, SYS_munmap, \
	SYS_mremap, SYS_mprotect, SYS_madvise, SYS_brk, SYS_futex, SYS_sched_yield, \
	SYS_clock_gettime, SYS_clock_nanosleep, SYS_nanosleep, SYS_restart_syscall, \
	SYS_gettimeofday, SYS_getrandom, SYS_getpid, SYS_gettid, SYS_getuid, SYS_geteuid, \
	SYS_getgid, SYS_getegid, SYS_rt_sigaction, SYS_rt_sigprocmask, SYS_rt_sigreturn, \
	SYS_tgkill, SYS_sigaltstack, SYS_exit, SYS_exit_group, \
	SYS_openat, SYS_openat2, SYS_readlinkat, SYS_getdents64, SYS_statfs, SYS_fstatfs, \
	SYS_faccessat, SYS_prlimit64

/*
 * System calls that exist on x86-64 but not on aarch64.  The C library may use them.  On aarch64,
 * each list repeats a call that is permitted anyway, because a list must not be empty.
 */
#ifdef __x86_64__
#define OLD_CALLS SYS_poll, SYS_open, SYS_stat, SYS_lstat, SYS_readlink, SYS_access, SYS_dup2, \
	SYS_time
#define OLD_WRITING_CALLS SYS_mkdir, SYS_rmdir, SYS_unlink, SYS_rename, SYS_mknod
#else
#define OLD_CALLS SYS_ppoll
#define OLD_WRITING_CALLS SYS_mknodat
#endif

static const int staging_calls[] = {
	LIBRARY_CALLS, OLD_CALLS, OLD_WRITING_CALLS,
	SYS_mkdirat, SYS_mknodat, SYS_unlinkat, SYS_renameat2, SYS_flock, SYS_ftruncate,
#ifdef SYS_renameat
	SYS_renameat,
#endif
	SYS_umask, SYS_bind, SYS_listen, SYS_sendmsg, SYS_sendto, SYS_recvmsg, SYS_recvfrom,
};

static const int inspect_calls[] = {
	LIBRARY_CALLS, OLD_CALLS,
	SYS_sendmsg, SYS_sendto, SYS_recvmsg, SYS_recvfrom,
	SYS_setfsuid, SYS_setfsgid, /* needed to read another user's /proc/PID, see fs_ids.h */
	SYS_capget,
	SYS_ioctl, /* for PROCMAP_QUERY (proc/maps.c); harmless, because no terminal is open */
#ifdef SYS_pidfd_open
	SYS_pidfd_open,
#endif
};

void sandbox_no_new_privileges(void)
{
	/* Fails on Linux before 3.5, which does not know no_new_privs. */
	(void)prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
}

int sandbox_enter(enum sandbox_kind kind)
{
	static const struct seccomp_list lists[] = {
		[SANDBOX_CLIENT] = { client_calls, ARRAY_SIZE(client_calls), false },
		[SANDBOX_FILE] = { file_calls, ARRAY_SIZE(file_calls), false },
		[SANDBOX_STAGING] = { staging_calls, ARRAY_SIZE(staging_calls), true },
		[SANDBOX_INSPECT] = { inspect_calls, ARRAY_SIZE(inspect_calls), true },
	};

	return bpf_program_apply(&lists[kind]);
}
