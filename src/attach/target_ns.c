#include "attach/target_ns.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/un.h>

#include "fileio/child.h"
#include "fileio/file_open.h"
#include "proc/capabilities.h"
#include "proc/inroot.h"
#include "proc/mounts.h"

/* limit in ms for a child that opens or removes a file; usually it takes microseconds */
#define CHILD_MS 2000
/* maximum number of supplementary groups that a child takes from a target; else it takes none */
#define GROUPS_MAX 64
#define DIR_FLAGS (O_PATH | O_DIRECTORY | O_CLOEXEC)

static bool in_same_userns(const struct procfs *proc, pid_t pid)
{
	struct stat ours, theirs;

	/*
	 * A kernel without user namespaces has no file ns/user.  An id then means the same user in
	 * every process.
	 */
	if (fstatat(proc->fd, "self/ns/user", &ours, 0) < 0)
		return true;
	if (procfs_stat(proc, pid, "ns/user", &theirs) < 0)
		return false;
	return file_is_same(&ours, &theirs);
}

static int open_failed(const struct jvm *jvm, int error, struct err *err)
{
	if (error == -ENOENT || error == -ESRCH)
		return jvm_gone(jvm, err);
	if (error == -EACCES || error == -EPERM)
		return jvm_denied(jvm, err);
	return err_set(err, EXIT_ATTACH,
		       "cannot attach to JVM %d: cannot open its root directory /proc/%d/root: %s; "
		       "check the mounts of its container",
		       (int)jvm->pid, (int)jvm->pid, strerror(-error));
}

static int open_dirs(struct target_ns *ns, struct err *err)
{
	const struct jvm *jvm = ns->jvm;

	ns->root_fd = mounts_open_root(&ns->proc, jvm->pid);
	if (ns->root_fd < 0)
		return open_failed(jvm, ns->root_fd, err);
	ns->cwd_fd = procfs_openat(&ns->proc, jvm->pid, "cwd", DIR_FLAGS);
	return 0;
}

static int foreign_proc(const struct jvm *jvm, struct err *err)
{
	return err_set(err, EXIT_PERMISSION,
		       "cannot attach to JVM %d: /proc belongs to another pid namespace than "
		       "jtool, so that another process may have this pid; add -p to nsenter, or "
		       "start jtool with unshare --mount-proc", (int)jvm->pid);
}

/* Opens the pidfd, or leaves it at -1 if the kernel has none.  Returns 0, or -1 with `err` set. */
static int open_pid_fd(struct target_ns *ns, struct err *err)
{
	if (!procfs_is_own(&ns->proc))
		return foreign_proc(ns->jvm, err);
	ns->pid_fd = (int)syscall(SYS_pidfd_open, ns->jvm->pid, 0);
	/* EPERM: a seccomp filter forbids what it does not know. */
	if (ns->pid_fd >= 0 || errno == ENOSYS || errno == EPERM)
		return 0;
	/* EINVAL: `pid` is now a thread of another process. */
	if (errno == ESRCH || errno == EINVAL)
		return jvm_gone(ns->jvm, err);
	return err_no_descriptor(err, EXIT_ATTACH, -errno, "a pidfd of JVM %d", (int)ns->jvm->pid);
}

static int open_process(struct target_ns *ns, bool with_dirs, struct err *err)
{
	const struct jvm *jvm = ns->jvm;

	if (open_pid_fd(ns, err) < 0)
		return -1;
	if (with_dirs && open_dirs(ns, err) < 0)
		return -1;
	/*
	 * Read the status last: its start time shows whether the pid was reused before this point.
	 */
	if (target_ns_status(ns, &ns->opened) < 0)
		return jvm_gone(jvm, err);
	ns->same_userns = in_same_userns(&ns->proc, jvm->pid);
	return 0;
}

static int open_ns(const struct jvm *jvm, bool with_dirs, struct target_ns *ns, struct err *err)
{
	struct target_ns n = { .jvm = jvm, .root_fd = -1, .cwd_fd = -1, .pid_fd = -1 };
	int rc = procfs_open(&n.proc, "/proc");

	if (rc < 0) {
		struct err why = { .code = EXIT_DONE };

		(void)jvm_no_proc(rc, &why);
		return err_set(err, EXIT_ATTACH, "%s", why.text);
	}
	if (open_process(&n, with_dirs, err) < 0) {
		target_ns_close(&n);
		return -1;
	}
	*ns = n;
	return 0;
}

int target_ns_open(const struct jvm *jvm, struct target_ns *ns, struct err *err)
{
	return open_ns(jvm, true, ns, err);
}

int target_ns_open_process(const struct jvm *jvm, struct target_ns *ns, struct err *err)
{
	return open_ns(jvm, false, ns, err);
}

void target_ns_close(struct target_ns *ns)
{
	util_close_p(&ns->root_fd);
	util_close_p(&ns->cwd_fd);
	util_close_p(&ns->pid_fd);
	procfs_close(&ns->proc);
	ns->root_fd = ns->cwd_fd = ns->pid_fd = -1;
}

bool target_ns_is_ours(const struct target_ns *ns)
{
	/*
	 * The comparison is correct even for a target in another user namespace, because jvm->uid
	 * and jvm->gid are ids as jtool's user namespace shows them.
	 */
	return geteuid() == ns->jvm->uid && getegid() == ns->jvm->gid;
}

/*
 * Stores the target's supplementary groups, as ids of this process's user namespace.  Returns their
 * number; 0 if they are unknown, or more than GROUPS_MAX.
 */
static size_t read_groups(const struct target_ns *ns, gid_t groups[static GROUPS_MAX])
{
	int n = procfs_groups(&ns->proc, ns->jvm->pid, groups, GROUPS_MAX);
	struct proc_status status;

	/* Read the status last, see open_process(). */
	return n < 0 || target_ns_status(ns, &status) < 0 ? 0 : (size_t)n;
}

/*
 * Takes the target's supplementary groups, because its directories may be accessible only by one of
 * them.  Returns 0 or a negative errno.
 */
static int set_groups(const struct target_ns *ns)
{
	gid_t groups[GROUPS_MAX];
	size_t n = read_groups(ns, groups);

	if (n > 0 && setgroups(n, groups) == 0)
		return 0;
	/*
	 * EPERM: a user namespace may forbid setgroups(2).  The process then keeps its groups,
	 * which give it no new rights.
	 */
	return setgroups(0, NULL) < 0 && errno != EPERM ? -errno : 0;
}

static int set_ids(const struct target_ns *ns, uid_t uid, gid_t gid)
{
	int rc = set_groups(ns);

	if (rc < 0)
		return rc;
	if (setresgid(gid, gid, gid) < 0 || setresuid(uid, uid, uid) < 0)
		return -errno;
	return 0;
}

/* Enters the target's user namespace and takes the target's ids as that namespace has them. */
static int become_inside(const struct target_ns *ns)
{
	_cleanup_close_ int fd = procfs_openat(&ns->proc, ns->jvm->pid, "ns/user", O_RDONLY);
	struct proc_status inside;
	int rc;

	if (fd < 0)
		return fd;
	if (setns(fd, CLONE_NEWUSER) < 0)
		return -errno;
	rc = target_ns_status(ns, &inside);
	return rc < 0 ? rc : set_ids(ns, inside.euid, inside.egid);
}

/*
 * Gives up the capabilities that the target lacks.  If this process is still in jtool's user
 * namespace and the target is in another one, gives up all capabilities.
 */
static int take_capabilities(const struct target_ns *ns, bool inside)
{
	static const struct capability_sets none;

	return capabilities_limit(ns->same_userns || inside ? &ns->opened.caps : &none);
}

int target_ns_become(const struct target_ns *ns)
{
	bool inside = false;
	int rc;

	/*
	 * Make this process undumpable before setns(2): otherwise root of the target's user
	 * namespace could trace this process as soon as it has entered that namespace.
	 */
	if (prctl(PR_SET_DUMPABLE, 0) < 0)
		return -errno;
	/* Needs CAP_SETPCAP, which the next calls give up. */
	capabilities_limit_bounding(ns->opened.caps.bounding);
	rc = set_ids(ns, ns->jvm->uid, ns->jvm->gid);
	/* EINVAL: jtool's own user namespace does not map the id. */
	if ((rc == -EPERM || rc == -EINVAL) && !ns->same_userns) {
		inside = true;
		rc = become_inside(ns);
	}
	if (rc == 0)
		rc = take_capabilities(ns, inside);
	if (rc < 0)
		return rc;
	/*
	 * Set PR_SET_DUMPABLE again, because the changes of ids and capabilities have reset it
	 * (fs.suid_dumpable).
	 */
	if (prctl(PR_SET_DUMPABLE, 0) < 0 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return -errno;
	return 0;
}

int target_ns_status(const struct target_ns *ns, struct proc_status *status)
{
	return procfs_recheck(&ns->proc, ns->jvm->pid, ns->jvm->start_ticks, status);
}

int target_ns_alive(const struct target_ns *ns)
{
	struct pollfd pfd = { .fd = ns->pid_fd, .events = POLLIN };
	struct proc_status status;

	if (ns->pid_fd < 0)
		return target_ns_status(ns, &status);
	return poll(&pfd, 1, 0) > 0 ? -ESRCH : 0;
}

int target_ns_kill(const struct target_ns *ns, int sig)
{
	int rc;

	if (ns->pid_fd >= 0) {
		if (syscall(SYS_pidfd_send_signal, ns->pid_fd, sig, NULL, 0) == 0)
			return 0;
		if (errno != ENOSYS)
			return -errno;
	}
	rc = target_ns_alive(ns);
	if (rc < 0)
		return rc;
	/* Check again, because this may be a child in another pid namespace (unshare -p). */
	if (!procfs_is_own(&ns->proc))
		return -ESRCH;
	return kill(ns->jvm->pid, sig) < 0 ? -errno : 0;
}

int target_ns_opendir(const struct target_ns *ns, const char *path)
{
	return inroot_open(ns->root_fd, path, O_DIRECTORY);
}

/* A function for run_as_target().  Returns 0 or a negative errno. */
typedef int as_target_fn(const struct target_ns *ns, const void *arg);

/*
 * Calls `fn` with the target's ids and with at most its capabilities.  Calls it in a child, unless
 * this process has the target's ids and no capabilities.  Returns what `fn` returns, or a negative
 * errno.
 */
static int run_as_target(const struct target_ns *ns, as_target_fn *fn, const void *arg)
{
	pid_t pid;

	if (target_ns_is_ours(ns) && !capabilities_any())
		return fn(ns, arg);
	pid = fork();
	if (pid < 0)
		return -errno;
	if (pid == 0) {
		int rc = target_ns_become(ns);

		_exit(-(rc < 0 ? rc : fn(ns, arg)));
	}
	return child_wait_errno(pid, deadline_in_ms(CHILD_MS));
}

struct reading {
	const char *path;
	const struct stat *same;
	bool to_map;
};

static int try_read(const struct target_ns *ns, const void *arg)
{
	const struct reading *r = arg;
	_cleanup_close_ int path_fd = inroot_open(ns->root_fd, r->path, 0), fd = -1;
	struct stat st;
	struct statvfs fs;

	if (path_fd < 0)
		return path_fd;
	if (fstat(path_fd, &st) < 0)
		return -errno;
	/*
	 * Compare the file with `same` before opening it for reading, because the target may have
	 * put a device at this path.
	 */
	if (!file_is_same(&st, r->same))
		return -ESTALE;
	fd = file_reopen_regular(path_fd, &st);
	if (fd < 0)
		return fd;
	if (fstatvfs(fd, &fs) < 0)
		return -errno;
	return r->to_map && (fs.f_flag & ST_NOEXEC) ? -EACCES : 0;
}

bool target_ns_can_read(const struct target_ns *ns, const char *path, const struct stat *same,
			bool to_map)
{
	const struct reading r = { path, same, to_map };

	return run_as_target(ns, try_read, &r) == 0;
}

struct removal {
	int dir_fd;
	const char *name;
	const struct stat *same;
};

static int unlink_same(const struct target_ns *ns, const void *arg)
{
	const struct removal *r = arg;
	struct stat st;

	(void)ns;
	if (fstatat(r->dir_fd, r->name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return -errno;
	if (!file_is_same(&st, r->same) || st.st_mtim.tv_sec != r->same->st_mtim.tv_sec ||
	    st.st_mtim.tv_nsec != r->same->st_mtim.tv_nsec)
		return -ESTALE;
	return unlinkat(r->dir_fd, r->name, 0) < 0 ? -errno : 0;
}

int target_ns_unlink(const struct target_ns *ns, int dir_fd, const char *name,
		     const struct stat *same)
{
	const struct removal r = { dir_fd, name, same };

	return run_as_target(ns, unlink_same, &r);
}

static int address(struct sockaddr_un *sa, int dir_fd, const char *name)
{
	int n;

	memset(sa, 0, sizeof(*sa));
	sa->sun_family = AF_UNIX;
	n = snprintf(sa->sun_path, sizeof(sa->sun_path), "/proc/self/fd/%d/%s", dir_fd, name);
	return n < 0 || (size_t)n >= sizeof(sa->sun_path) ? -ENAMETOOLONG : 0;
}

int target_ns_bind(int sock, int dir_fd, const char *name)
{
	struct sockaddr_un sa;
	int rc = address(&sa, dir_fd, name);

	if (rc < 0)
		return rc;
	return bind(sock, (struct sockaddr *)&sa, sizeof(sa)) < 0 ? -errno : 0;
}

int target_ns_connect(int sock, int socket_fd)
{
	struct sockaddr_un sa = { .sun_family = AF_UNIX };

	(void)snprintf(sa.sun_path, sizeof(sa.sun_path), "/proc/self/fd/%d", socket_fd);
	while (connect(sock, (struct sockaddr *)&sa, sizeof(sa)) < 0) {
		if (errno != EINTR)
			return -errno;
	}
	return 0;
}
