#include "target/trigger.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/wait.h>
#include <time.h>

#include "base/aside.h"

/* How long the trigger file waits for a JVM that is late after we have given up. */
#define GRACE_MS 60000
/* Another tool's trigger file that is younger may still have its signal coming. */
#define FRESH_SECONDS 2
#define OTHER_TOOL_MS 500
/* A JVM that has taken the signal and is only slow has its listener by then. */
#define AGAIN_MS 1000
/*
 * Most JVMs open the socket in a millisecond or two: so long it is looked for by the clock.  Only
 * then inotify wakes us, because its close takes 20 ms in the kernel (an SRCU grace period).
 */
#define SOON_NS (20 * 1000000)
#define SOON_STEP_NS 250000
/* Beside the events, which not every file system tells. */
#define WATCHED_MS 50
#define UNWATCHED_MS 2

/* What the keeper tells its parent; smaller than PIPE_BUF, so that it is written at once. */
struct report {
	enum { REPORT_SIGNALLED, REPORT_SOCKET, REPORT_FAILED } what;
	struct err err;
};

struct keeper {
	const struct point *point;
	char name[32];  /* of the trigger file */
	int dir_fd;     /* where it is, or goes; one of the point's */
	bool is_there;  /* somebody else has made it */
	bool is_fresh;  /* … just now */
	int watch_fd;   /* inotify; -1: not yet, or not to be had */
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

/* Until something may have happened: in the directory, to the target, or by the clock. */
static void pause_a_while(struct keeper *k, int64_t waited_ns, int left_ms)
{
	struct pollfd fds[2] = {
		{ .fd = k->point->ns.pid_fd, .events = POLLIN },
		{ .fd = k->watch_fd, .events = POLLIN },
	};
	static const struct timespec soon = { 0, SOON_STEP_NS };
	char events[4096];
	int step_ms;

	if (waited_ns < SOON_NS) {
		(void)ppoll(fds, 1, &soon, NULL);
		return;
	}
	if (k->watch_fd < 0)
		fds[1].fd = k->watch_fd = watch(k->point->tmp_fd);
	step_ms = k->watch_fd < 0 ? UNWATCHED_MS : WATCHED_MS;
	(void)poll(fds, ARRAY_SIZE(fds), left_ms < step_ms ? left_ms : step_ms);
	/* Which event it was does not matter: the directory is looked at. */
	if (fds[1].revents & POLLIN && io_read(k->watch_fd, events, sizeof(events)) < 0)
		return;
}

/* In the keeper: -1 with err set when the target is gone or the time is over. */
static int wait_socket(struct keeper *k, struct deadline d, struct err *err)
{
	const struct ns *ns = &k->point->ns;
	int64_t begin = io_now_ns();

	for (;;) {
		int left_ms = deadline_left_ms(d);

		if (point_has_socket(k->point, NULL) > 0)
			return 0;
		if (ns_alive(ns) < 0)
			return err_set(err, EXIT_PARTIAL, "JVM %d went away before it answered",
				       (int)ns->jvm->pid);
		if (left_ms == 0)
			return err_set(err, EXIT_ATTACH, "no answer in time");
		pause_a_while(k, io_now_ns() - begin, left_ms);
	}
}

/* Make the trigger file, unless somebody else has made it. */
static int make_file(struct keeper *k, struct err *err)
{
	int fd = openat(k->dir_fd, k->name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
			0600);

	if (fd >= 0) {
		(void)close(fd); /* empty */
		k->is_there = k->is_fresh = false;
		return 0;
	}
	if (errno == EEXIST) {
		k->is_fresh |= !k->is_there; /* it was not there before: another tool was faster */
		k->is_there = true;
		return 0;
	}
	return err_set(err, EXIT_ATTACH,
		       "the JVM's %s directory cannot be written to by its own user (%s): "
		       "neither can it open its attach socket there",
		       k->dir_fd == k->point->tmp_fd ? "tmp" : "working", strerror(errno));
}

static int send_signal(const struct keeper *k, struct err *err)
{
	const struct ns *ns = &k->point->ns;
	uint64_t quit = UINT64_C(1) << (SIGQUIT - 1);
	struct proc_status status;
	int rc = ns_status(ns, &status);

	if (rc == 0 && !(status.sig_caught & quit))
		return err_set(err, EXIT_ATTACH,
			       "JVM %d does not catch SIGQUIT any more: it would be killed by it",
			       (int)ns->jvm->pid);
	if (rc == 0 && !(status.sig_pending & quit))
		rc = ns_kill(ns, SIGQUIT);
	if (rc == -ESRCH)
		return jvm_gone(ns->jvm, err);
	if (rc < 0)
		return err_set(err, EXIT_PERMISSION, "SIGQUIT cannot be sent to JVM %d: %s",
			       (int)ns->jvm->pid, strerror(-rc));
	return 0;
}

static void report(const struct keeper *k, const struct report *r)
{
	/* A parent that is gone does not hear it, and the work is done for its own sake. */
	(void)!write(k->report_fd, r, sizeof(*r));
}

/* The file is there: signal, unless somebody else's signal does it, and wait. */
static int wake(struct keeper *k, struct err *err)
{
	static const struct report signalled = { .what = REPORT_SIGNALLED };
	struct err ignored = { .code = EXIT_DONE };
	unsigned half_ms = k->timeout_ms / 2;

	/* A second SIGQUIT, after the socket was opened for the first, prints a thread dump. */
	if (k->is_fresh && wait_socket(k, deadline_in_ms(OTHER_TOOL_MS), &ignored) == 0)
		return 0;
	/* So does one without a file: the other tool may have given up and taken it away. */
	if (k->is_fresh && make_file(k, err) < 0)
		return -1;
	if (point_has_socket(k->point, NULL) > 0)
		return 0;
	if (send_signal(k, err) < 0)
		return -1;
	report(k, &signalled);
	if (wait_socket(k, deadline_in_ms(half_ms), &ignored) == 0)
		return 0;
	/* HotSpot drops a signal that comes while a listener is just ending or beginning. */
	if (half_ms >= AGAIN_MS && send_signal(k, err) < 0)
		return -1;
	return wait_socket(k, deadline_in_ms(half_ms + GRACE_MS), err);
}

static int keep(struct keeper *k, struct err *err)
{
	const struct ns *ns = &k->point->ns;
	int rc = ns_become(ns);

	if (rc < 0)
		return err_set(err, EXIT_PERMISSION,
			       "cannot act as JVM %d's user and group (%u:%u): %s; try as root",
			       (int)ns->jvm->pid, ns->jvm->uid, ns->jvm->gid, strerror(-rc));
	if (!k->is_there && make_file(k, err) < 0)
		return -1;
	rc = wake(k, err);
	if (!k->is_there)
		(void)unlinkat(k->dir_fd, k->name, 0); /* it may have been cleaned away */
	return rc;
}

static void _noreturn_ run_keeper(struct keeper *k)
{
	struct report r = { .what = REPORT_SOCKET };

	if (keep(k, &r.err) < 0)
		r.what = REPORT_FAILED;
	report(k, &r);
	_exit(0);
}

/* The trigger file as it is in a directory: 1 of the right owner, 0 none, -1 somebody else's. */
static int look(struct keeper *k, int dir_fd)
{
	const struct ns *ns = &k->point->ns;
	struct stat st;
	bool root_will_do = ns->same_userns && jvm_feature(ns->jvm) != 8;

	if (dir_fd < 0 || fstatat(dir_fd, k->name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return 0;
	/* JDK 8 wants its own user; later ones take root's as well (JDK-8197387). */
	if (!S_ISREG(st.st_mode) ||
	    (st.st_uid != ns->jvm->uid && !(root_will_do && st.st_uid == 0)))
		return -1;
	k->is_fresh = st.st_mtim.tv_sec + FRESH_SECONDS > time(NULL);
	return 1;
}

static int foreign(const struct keeper *k, const char *dir, struct err *err)
{
	return err_set(err, EXIT_ATTACH,
		       "a file %s in JVM %d's %s belongs to another user and keeps every tool from "
		       "attaching: remove it",
		       k->name, (int)k->point->ns.jvm->pid, dir);
}

/* Decide where the trigger file goes.  The JVM looks into its working directory first. */
static int choose_dir(struct keeper *k, struct err *err)
{
	const struct point *point = k->point;
	_cleanup_free_ char *cwd = procfs_readlink(&point->ns.proc, point->ns.jvm->pid, "cwd");
	int in_cwd = look(k, point->ns.cwd_fd);
	int in_tmp;

	if (in_cwd < 0)
		return foreign(k, cwd ? cwd : "working directory", err);
	in_tmp = in_cwd > 0 ? 0 : look(k, point->tmp_fd);
	if (in_tmp < 0 && point->ns.cwd_fd < 0)
		return foreign(k, jvm_tmp(point->ns.jvm), err);
	k->is_there = in_cwd > 0 || in_tmp > 0;
	k->dir_fd = in_cwd > 0 || in_tmp < 0 ? point->ns.cwd_fd : point->tmp_fd;
	return 0;
}

/* Fork the keeper.  Returns the end of the pipe that it reports to. */
static int start_keeper(struct keeper *k, pid_t *pid, struct err *err)
{
	const struct ns *ns = &k->point->ns;
	int ends[2];

	if (pipe2(ends, O_CLOEXEC) < 0)
		return err_set(err, EXIT_ATTACH, "no pipe: %s", strerror(errno));
	k->report_fd = ends[1];
	*pid = aside_fork((const int[]){ ns->proc.fd, ns->root_fd, ns->cwd_fd, ns->pid_fd,
					  k->point->tmp_fd, k->report_fd }, 6);
	if (*pid == 0)
		run_keeper(k);
	(void)close(ends[1]);
	if (*pid < 0) {
		(void)close(ends[0]);
		return err_set(err, EXIT_ATTACH, "no child process: %s", strerror(-*pid));
	}
	return ends[0];
}

static int no_answer(const struct keeper *k, struct err *err)
{
	const struct ns *ns = &k->point->ns;
	struct proc_status status;
	const char *why = "it took SIGQUIT, but no attach listener has started: it is in a long "
			  "pause or short of memory or threads, or its socket was deleted, which "
			  "releases before 8u272, 11.0.9 and 14 do not get over (JDK-8225690)";

	if (ns_status(ns, &status) < 0)
		return jvm_gone(ns->jvm, err);
	if (status.state == 'T' || status.state == 't')
		why = "it was stopped meanwhile (SIGSTOP or a debugger)";
	else if (status.sig_pending & (UINT64_C(1) << (SIGQUIT - 1)))
		why = "it has not taken SIGQUIT: it is frozen or starved of CPU";
	else if (status.state == 'D')
		why = "it waits in the kernel, uninterruptibly";
	return err_set(err, EXIT_ATTACH, "JVM %d did not open its attach socket in %g s: %s",
		       (int)ns->jvm->pid, k->timeout_ms / 1000.0, why);
}

static int hear(const struct keeper *k, int fd, const struct steps *steps, struct err *err)
{
	struct deadline d = deadline_in_ms(k->timeout_ms);

	for (;;) {
		struct report r;
		int rc = io_read_exact(fd, &r, sizeof(r), d);

		if (rc == -ETIMEDOUT)
			return no_answer(k, err);
		if (rc < 0)
			return err_set(err, EXIT_ATTACH, "the helper process was ended: %s",
				       strerror(-rc));
		if (r.what == REPORT_FAILED)
			return err_set(err, r.err.code, "%s", r.err.text);
		if (r.what == REPORT_SOCKET)
			return 0;
		steps_add(steps, "SIGQUIT sent");
	}
}

int trigger_pull(const struct point *point, unsigned timeout_ms, const struct steps *steps,
		 struct err *err)
{
	struct keeper k = { .point = point, .timeout_ms = timeout_ms, .watch_fd = -1 };
	pid_t pid = -1;
	int fd, rc;

	(void)snprintf(k.name, sizeof(k.name), ".attach_pid%d", (int)point->ns.jvm->nspid);
	if (choose_dir(&k, err) < 0)
		return -1;
	fd = start_keeper(&k, &pid, err);
	if (fd < 0)
		return -1;
	rc = hear(&k, fd, steps, err);
	(void)close(fd);
	/* The socket is its last word; after a failure it stays on. */
	if (rc == 0)
		(void)waitpid(pid, NULL, 0);
	return rc;
}
