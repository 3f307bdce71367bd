#include "attach/sigquit.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/inotify.h>
#include <time.h>

#include "base/progress.h"
#include "base/xalloc.h"
#include "fileio/child.h"
#include "fileio/detached_child.h"
#include "fileio/file_open.h"
#include "fileio/io.h"

#define WAIT_SHOWN_MS 1000

/*
 * The trigger file stays for this many ms after the timeout, because the JVM may handle the signal
 * late.
 */
#define GRACE_MS 60000
/*
 * If another tool's trigger file is younger than this many seconds, it is "fresh": the other tool
 * may not have sent its signal yet.
 */
#define FRESH_SECONDS 2
#define OTHER_TOOL_MS 500
/*
 * For the first SOON_NS, jtool polls for the socket's file every SOON_STEP_NS, because most JVMs
 * create it within 2 ms.  After that, jtool uses inotify.  It does not use inotify earlier, because
 * closing an inotify descriptor takes 20 ms in the kernel (an SRCU grace period).
 */
#define SOON_NS (20 * 1000000)
#define SOON_STEP_NS 250000
#define WATCHED_MS 50  /* ms between two polls if inotify watches the directory */
#define END_MS 1000    /* ms in which the helper process must end after its work */
#define UNWATCHED_MS 2 /* ms between two polls if the file system does not support inotify */

/*
 * A message from the helper (the child that wakes the JVM) to its parent.  Smaller than PIPE_BUF,
 * so that write(2) is atomic.
 */
struct report {
	enum { REPORT_SIGNALLED, REPORT_SOCKET, REPORT_FAILED } what;
	struct err err;
};

struct trigger {
	const struct attach_socket *asock;
	char name[32];  /* name of the trigger file */
	int dir_fd;     /* the trigger file's directory: tmp_fd or cwd_fd of asock */
	bool exists;    /* the trigger file exists, and another tool has created it */
	bool is_fresh;  /* `exists`, and the file is new: the other tool may still send SIGQUIT */
	int watch_fd;   /* inotify descriptor; -1: not opened yet, or not available */
	int report_fd;
	unsigned timeout_ms;
};

static int watch(int dir_fd)
{
	char path[32];
	int fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);

	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", dir_fd);
	if (fd < 0 || inotify_add_watch(fd, path, IN_CREATE | IN_MOVED_TO) >= 0)
		return fd;
	(void)close(fd);
	return -1;
}

/*
 * Returns when the socket's directory has changed, when the target has exited, or when the polling
 * interval is over.
 */
static void wait_for_change(struct trigger *t, int64_t waited_ns, int left_ms)
{
	struct pollfd fds[2] = {
		{ .fd = t->asock->ns.pid_fd, .events = POLLIN },
		{ .fd = t->watch_fd, .events = POLLIN },
	};
	static const struct timespec soon = { 0, SOON_STEP_NS };
	char events[4096];
	int step_ms;

	if (waited_ns < SOON_NS) {
		(void)ppoll(fds, 1, &soon, NULL);
		return;
	}
	if (t->watch_fd < 0)
		fds[1].fd = t->watch_fd = watch(t->asock->tmp_fd);
	step_ms = t->watch_fd < 0 ? UNWATCHED_MS : WATCHED_MS;
	(void)poll(fds, ARRAY_SIZE(fds), left_ms < step_ms ? left_ms : step_ms);
	/* Read and discard the events, because the caller looks at the directory itself. */
	if (fds[1].revents & POLLIN && io_read(t->watch_fd, events, sizeof(events)) < 0)
		return;
}

/*
 * In the helper: waits until the socket's file exists.  Returns 0; or -1 with `err` set if the
 * target exits or the deadline passes first.
 */
static int wait_socket(struct trigger *t, struct deadline d, struct err *err)
{
	const struct target_ns *ns = &t->asock->ns;
	int64_t begin = monotonic_ns();

	for (;;) {
		int left_ms = deadline_left_ms(d);

		if (attach_socket_exists(t->asock) > 0)
			return 0;
		if (target_ns_alive(ns) < 0)
			return err_set(err, EXIT_PARTIAL, "JVM %d exited before it answered",
				       (int)ns->jvm->pid);
		if (left_ms == 0)
			return err_set(err, EXIT_ATTACH,
				       "JVM %d did not open its attach socket in time; use "
				       "--timeout to wait longer", (int)ns->jvm->pid);
		wait_for_change(t, monotonic_ns() - begin, left_ms);
	}
}

/*
 * Returns a path of the trigger file's directory that is valid for jtool's user; it is shown in
 * messages.  The caller frees the path.
 */
static char *visible_dir(const struct trigger *t, bool in_tmp)
{
	const struct jvm *jvm = t->asock->ns.jvm;

	return in_tmp ? xasprintf("/proc/%d/root%s", (int)jvm->pid, jvm_tmp(jvm))
		      : xasprintf("/proc/%d/cwd", (int)jvm->pid);
}

/* Creates the trigger file, unless another tool has created it. */
static int create_file(struct trigger *t, struct err *err)
{
	int fd = file_create(t->dir_fd, t->name, 0600);
	_cleanup_free_ char *dir = NULL;

	if (fd >= 0) {
		(void)close(fd); /* the file is empty, so no write can fail */
		t->exists = t->is_fresh = false;
		return 0;
	}
	if (fd == -EEXIST) {
		t->is_fresh |= !t->exists; /* new if another tool created it after choose_dir() */
		t->exists = true;
		return 0;
	}
	dir = visible_dir(t, t->dir_fd == t->asock->tmp_fd);
	return err_set(err, EXIT_ATTACH,
		       "JVM %d cannot open its attach socket: its user cannot write to %s: %s; "
		       "make the directory writable, or free space there",
		       (int)t->asock->ns.jvm->pid, dir, strerror(-fd));
}

static int send_signal(const struct trigger *t, struct err *err)
{
	const struct target_ns *ns = &t->asock->ns;
	uint64_t quit = UINT64_C(1) << (SIGQUIT - 1);
	struct proc_status status;
	int rc = target_ns_status(ns, &status);

	if (rc == 0 && !(status.sig_caught & quit))
		return err_set(err, EXIT_ATTACH,
			       "JVM %d no longer catches SIGQUIT, which would kill it: no signal "
			       "was sent; it may be exiting; try again", (int)ns->jvm->pid);
	if (rc == 0 && !(status.sig_pending & quit))
		rc = target_ns_kill(ns, SIGQUIT);
	if (rc == -ESRCH)
		return jvm_gone(ns->jvm, err);
	if (rc < 0)
		return err_set(err, EXIT_PERMISSION,
			       "cannot send SIGQUIT to JVM %d as its own user: %s; a security "
			       "module or seccomp filter may forbid it", (int)ns->jvm->pid,
			       strerror(-rc));
	return 0;
}

static void send_report(const struct trigger *t, const struct report *r)
{
	/* If the parent has ended, nobody reads the message.  The helper goes on in either case. */
	(void)!write(t->report_fd, r, sizeof(*r));
}

/*
 * Makes the JVM open its socket: sends SIGQUIT, unless another tool's signal makes the JVM open the
 * socket first.  Waits until the socket's file exists.
 *
 * Sends the signal only once, because HotSpot ignores a second SIGQUIT only while an attach
 * listener is starting or ending.  A JVM that is short of CPU could handle the second signal later,
 * when it has opened the socket because of the first, and would then print a thread dump.
 */
static int wake(struct trigger *t, struct err *err)
{
	static const struct report signalled = { .what = REPORT_SIGNALLED };
	struct err ignored = { .code = EXIT_DONE };

	/*
	 * Wait for the effect of the other tool's signal, because a second signal, from jtool,
	 * could make the JVM print a thread dump.
	 */
	if (t->is_fresh && wait_socket(t, deadline_in_ms(OTHER_TOOL_MS), &ignored) == 0)
		return 0;
	/*
	 * The other tool may have removed its trigger file.  Create one in that case, because
	 * without a trigger file SIGQUIT makes the JVM print a thread dump.
	 */
	if (t->is_fresh && create_file(t, err) < 0)
		return -1;
	if (attach_socket_exists(t->asock) > 0)
		return 0;
	if (send_signal(t, err) < 0)
		return -1;
	send_report(t, &signalled);
	return wait_socket(t, deadline_in_ms(t->timeout_ms + GRACE_MS), err);
}

static int wake_as_target(struct trigger *t, struct err *err)
{
	const struct target_ns *ns = &t->asock->ns;
	int rc = target_ns_become(ns);

	if (rc < 0)
		return jvm_cannot_become(ns->jvm, strerror(-rc), err);
	if (!t->exists && create_file(t, err) < 0)
		return -1;
	rc = wake(t, err);
	if (!t->exists)
		(void)unlinkat(t->dir_fd, t->name, 0); /* fails if the file was deleted already */
	return rc;
}

static void _noreturn_ run_helper(struct trigger *t)
{
	struct report r = { .what = REPORT_SOCKET };

	if (wake_as_target(t, &r.err) < 0)
		r.what = REPORT_FAILED;
	send_report(t, &r);
	_exit(0);
}

/*
 * Returns 1 if there is a trigger file in the directory dir_fd and the JVM accepts it; -1 if there
 * is one and the JVM does not accept it; 0 if there is none.
 */
static int inspect_file(struct trigger *t, int dir_fd)
{
	const struct target_ns *ns = &t->asock->ns;
	struct stat st;
	bool root_will_do = ns->same_userns && jvm_feature(ns->jvm) != 8;

	if (dir_fd < 0 || fstatat(dir_fd, t->name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return 0;
	/*
	 * JDK 8 accepts only a file that the JVM's user owns; later releases also accept a file
	 * that root owns (JDK-8197387).
	 */
	if (!S_ISREG(st.st_mode) ||
	    (st.st_uid != ns->jvm->uid && !(root_will_do && st.st_uid == 0)))
		return -1;
	t->is_fresh = st.st_mtim.tv_sec + FRESH_SECONDS > time(NULL);
	return 1;
}

static int foreign_file(const struct trigger *t, bool in_tmp, struct err *err)
{
	_cleanup_free_ char *dir = visible_dir(t, in_tmp);

	return err_set(err, EXIT_ATTACH,
		       "cannot attach to JVM %d: the file %s/%s belongs to another user, which "
		       "prevents every tool from attaching; remove it",
		       (int)t->asock->ns.jvm->pid, dir, t->name);
}

/*
 * Chooses the trigger file's directory.  The JVM looks in its working directory first.  If it finds
 * another user's trigger file there, it does not look in the tmp directory, so attaching fails.
 */
static int choose_dir(struct trigger *t, struct err *err)
{
	const struct attach_socket *asock = t->asock;
	int in_cwd = inspect_file(t, asock->ns.cwd_fd);
	int in_tmp;

	if (in_cwd < 0)
		return foreign_file(t, false, err);
	in_tmp = in_cwd > 0 ? 0 : inspect_file(t, asock->tmp_fd);
	if (in_tmp < 0 && asock->ns.cwd_fd < 0)
		return foreign_file(t, true, err);
	t->exists = in_cwd > 0 || in_tmp > 0;
	t->dir_fd = in_cwd > 0 || in_tmp < 0 ? asock->ns.cwd_fd : asock->tmp_fd;
	return 0;
}

/* Forks the helper.  Returns the read end of the pipe for its reports, or -1 with err set. */
static int start_helper(struct trigger *t, pid_t *pid, struct err *err)
{
	const struct target_ns *ns = &t->asock->ns;
	int ends[2];

	if (pipe2(ends, O_CLOEXEC) < 0)
		return err_no_descriptor(err, EXIT_ATTACH, -errno,
					 "a pipe to the process that wakes the attach listener of "
					 "JVM %d", (int)ns->jvm->pid);
	t->report_fd = ends[1];
	*pid = detached_child_fork((const int[]){ ns->proc.fd, ns->root_fd, ns->cwd_fd, ns->pid_fd,
						  t->asock->tmp_fd, t->report_fd },
				   6);
	if (*pid == 0)
		run_helper(t);
	(void)close(ends[1]);
	if (*pid < 0) {
		(void)close(ends[0]);
		return err_not_started(err, EXIT_ATTACH, *pid,
				       "the process that wakes the attach listener of JVM %d",
				       (int)ns->jvm->pid);
	}
	return ends[0];
}

/*
 * Returns true if at least 95 % of the heap was in use when jtool found the JVM.  The JVM may then
 * be unable to allocate the java.lang.Thread of its attach listener (AttachListener::init).
 */
static bool is_heap_full(const struct jvm *jvm)
{
	return jvm->heap_max > 0 && jvm->heap_used >= jvm->heap_max - jvm->heap_max / 20;
}

static int no_answer(const struct trigger *t, struct err *err)
{
	const struct target_ns *ns = &t->asock->ns;
	struct proc_status status;
	const char *why = "it received SIGQUIT but started no attach listener: it is in a long "
			  "pause or short of memory or threads, or its socket was deleted, from "
			  "which JDKs before 8u272, 11.0.9 and 14 do not recover (JDK-8225690); "
			  "use --timeout to wait longer";

	if (target_ns_status(ns, &status) < 0)
		return jvm_gone(ns->jvm, err);
	if (status.state == 'T' || status.state == 't')
		why = "it is now stopped by SIGSTOP or a debugger; let it continue";
	else if (status.sig_pending & (UINT64_C(1) << (SIGQUIT - 1)))
		why = "it has not received SIGQUIT: it is frozen or starved of CPU; use --timeout "
		      "to wait longer";
	else if (status.state == 'D')
		why = "it is in uninterruptible sleep in the kernel; use --timeout to wait longer";
	else if (is_heap_full(ns->jvm))
		why = "its Java heap is full, and may have no room for the attach listener; try "
		      "again, or use what does not attach: jtool info, stat and memory --no-attach";
	return err_set(err, EXIT_ATTACH, "JVM %d did not open its attach socket within %g s: %s",
		       (int)ns->jvm->pid, t->timeout_ms / 1000.0, why);
}

/* Waits for a report of the helper.  After a second, shows on a terminal what jtool waits for. */
static void await_report(const struct trigger *t, int fd, struct deadline d)
{
	struct progress line = { .on = false };
	int64_t since_ns = monotonic_ns();

	progress_begin(&line);
	while (!deadline_passed(d)) {
		int left_ms = deadline_left_ms(d);

		if (io_wait(fd, POLLIN, deadline_in_ms(left_ms < WAIT_SHOWN_MS ?
							       (unsigned)left_ms :
							       WAIT_SHOWN_MS)) == 0)
			break;
		progress_wait(&line, "the attach listener", (int)t->asock->ns.jvm->pid, since_ns);
	}
	progress_end(&line);
}

static int receive_reports(const struct trigger *t, int fd, const struct verbose *verbose,
			   struct err *err)
{
	struct deadline d = deadline_in_ms(t->timeout_ms);

	for (;;) {
		struct report r;
		int rc;

		if (!verbose)
			await_report(t, fd, d);
		rc = io_read_exact(fd, &r, sizeof(r), d);
		if (rc == -ETIMEDOUT)
			return no_answer(t, err);
		if (rc < 0)
			return err_killed(err, EXIT_ATTACH, "wakes the attach listener of JVM %d",
					  (int)t->asock->ns.jvm->pid);
		if (r.what == REPORT_FAILED)
			return err_set(err, r.err.code, "%s", r.err.text);
		if (r.what == REPORT_SOCKET)
			return 0;
		verbose_step(verbose, "SIGQUIT sent");
	}
}

int sigquit_wake(const struct attach_socket *asock, unsigned timeout_ms,
		 const struct verbose *verbose, struct err *err)
{
	struct trigger t = { .asock = asock, .timeout_ms = timeout_ms, .watch_fd = -1 };
	pid_t pid = -1;
	int fd, rc, status;

	(void)snprintf(t.name, sizeof(t.name), ".attach_pid%d", (int)asock->ns.jvm->nspid);
	if (choose_dir(&t, err) < 0)
		return -1;
	fd = start_helper(&t, &pid, err);
	if (fd < 0)
		return -1;
	rc = receive_reports(&t, fd, verbose, err);
	(void)close(fd);
	/*
	 * After a success, wait for the helper: it removes the trigger file and ends, unless the
	 * JVM's user has stopped it.  After a failure, the helper may continue for GRACE_MS, so do
	 * not wait.
	 */
	if (rc == 0 && child_wait(pid, &status, deadline_in_ms(END_MS)) < 0)
		verbose_step(verbose, "the helper did not end in time");
	return rc;
}
