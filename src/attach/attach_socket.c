#include "target/point.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>

/* Exit status of a child that could not become the target's user; errno values are smaller. */
#define CANNOT_BECOME 255

static int check_state(const struct jvm *jvm, char state, struct err *err)
{
	int pid = (int)jvm->pid;

	if (state == 'T')
		return err_set(err, EXIT_ATTACH,
			       "JVM %d is stopped and cannot answer: kill -CONT %d lets it go on",
			       pid, pid);
	if (state == 't')
		return err_set(err, EXIT_ATTACH,
			       "JVM %d is stopped by a debugger or tracer and cannot answer", pid);
	return 0;
}

int point_open(const struct jvm *jvm, struct point *point, struct err *err)
{
	struct point p = { .tmp_fd = -1 };

	if (ns_open(jvm, &p.ns, err) < 0)
		return -1;
	if (check_state(jvm, p.ns.opened.state, err) < 0) {
		ns_close(&p.ns);
		return -1;
	}
	p.tmp_fd = ns_opendir(&p.ns, jvm_tmp(jvm));
	if (p.tmp_fd < 0) {
		ns_close(&p.ns);
		return err_set(err, p.tmp_fd == -EACCES ? EXIT_PERMISSION : EXIT_ATTACH,
			       "JVM %d's directory %s cannot be opened: %s", (int)jvm->pid,
			       jvm_tmp(jvm), strerror(-p.tmp_fd));
	}
	(void)snprintf(p.socket, sizeof(p.socket), ".java_pid%d", (int)jvm->nspid);
	*point = p;
	return 0;
}

void point_close(struct point *point)
{
	util_close_p(&point->tmp_fd);
	ns_close(&point->ns);
}

int point_check_running(const struct point *point, struct err *err)
{
	const struct jvm *jvm = point->ns.jvm;
	struct proc_status status;

	if (ns_status(&point->ns, &status) < 0)
		return jvm_gone(jvm, err);
	return check_state(jvm, status.state, err);
}

int point_has_socket(const struct point *point, struct stat *st)
{
	const struct stat *dead = &point->dead;
	struct stat found;

	if (fstatat(point->tmp_fd, point->socket, &found, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT ? 0 : -errno;
	if (st)
		*st = found;
	/* The inode may be given to the next file at once, the change time not. */
	return found.st_ino != dead->st_ino || found.st_dev != dead->st_dev ||
	       found.st_ctim.tv_sec != dead->st_ctim.tv_sec ||
	       found.st_ctim.tv_nsec != dead->st_ctim.tv_nsec;
}

/* connect(2) in a child that has the target's ids: HotSpot looks at the peer's. */
static int connect_as_target(int sock, const struct point *point)
{
	pid_t pid = fork();
	int status;

	if (pid < 0)
		return -errno;
	if (pid == 0) {
		if (ns_become(&point->ns) < 0)
			_exit(CANNOT_BECOME);
		_exit(-ns_connect(sock, point->tmp_fd, point->socket));
	}
	while (waitpid(pid, &status, 0) < 0) {
		if (errno != EINTR)
			return -errno;
	}
	return WIFEXITED(status) ? -WEXITSTATUS(status) : -ECHILD;
}

static int check_peer(int sock, const struct point *point, struct err *err)
{
	struct ucred peer;
	socklen_t len = sizeof(peer);

	if (getsockopt(sock, SOL_SOCKET, SO_PEERCRED, &peer, &len) < 0)
		return err_set(err, EXIT_ATTACH, "the attach socket's owner cannot be told: %s",
			       strerror(errno));
	if (peer.pid == point->ns.jvm->pid)
		return 0;
	return err_set(err, EXIT_ATTACH,
		       "%s/%s is served by process %d, not by JVM %d: they share a directory and a "
		       "pid in different containers, or somebody takes its place",
		       jvm_tmp(point->ns.jvm), point->socket, (int)peer.pid,
		       (int)point->ns.jvm->pid);
}

static int refused(const struct point *point, int error, struct err *err)
{
	const struct jvm *jvm = point->ns.jvm;
	struct proc_status status;

	if (ns_status(&point->ns, &status) < 0)
		return jvm_gone(jvm, err);
	if (error == -CANNOT_BECOME)
		return err_set(err, EXIT_PERMISSION,
			       "cannot act as JVM %d's user and group (%u:%u): run jtool as root",
			       (int)jvm->pid, jvm->uid, jvm->gid);
	if (error == -EACCES || error == -EPERM)
		return err_set(err, EXIT_PERMISSION,
			       "%s/%s of JVM %d (user %u) cannot be connected to: %s; "
			       "run jtool as that user or as root",
			       jvm_tmp(jvm), point->socket, (int)jvm->pid, jvm->uid,
			       strerror(-error));
	if (error == -EAGAIN)
		return err_set(err, EXIT_ATTACH,
			       "JVM %d does not take another connection: its attach listener is "
			       "busy or stuck, and others wait already",
			       (int)jvm->pid);
	return err_set(err, EXIT_ATTACH, "%s/%s of JVM %d cannot be connected to: %s", jvm_tmp(jvm),
		       point->socket, (int)jvm->pid, strerror(-error));
}

/* Is what lies under the socket's name really the JVM's? */
static int check_file(const struct point *point, const struct stat *st, struct err *err)
{
	const struct jvm *jvm = point->ns.jvm;
	const char *what = "another user's";

	if (S_ISSOCK(st->st_mode) && st->st_uid == jvm->uid)
		return 0;
	if (!S_ISSOCK(st->st_mode))
		what = S_ISLNK(st->st_mode) ? "a symbolic link" : "no socket";
	return err_set(err, EXIT_ATTACH,
		       "%s/%s is %s, not JVM %d's attach socket: remove it if nobody needs it",
		       jvm_tmp(jvm), point->socket, what, (int)jvm->pid);
}

int point_connect(struct point *point, struct deadline d, int *fd, struct err *err)
{
	_cleanup_close_ int sock = -1;
	int left = deadline_left_ms(d), rc;
	/* A full backlog of a Unix socket makes connect(2) wait, by this option's time. */
	const struct timeval patience = { left / 1000, left % 1000 * 1000 + 1 };
	struct stat st;

	rc = point_has_socket(point, &st);
	if (rc < 0)
		return refused(point, rc, err);
	if (rc == 0)
		return 0;
	if (check_file(point, &st, err) < 0)
		return -1;
	sock = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (sock < 0 || setsockopt(sock, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience)) < 0)
		return err_set(err, EXIT_ATTACH, "no socket: %s", strerror(errno));
	rc = ns_is_ours(&point->ns) ? ns_connect(sock, point->tmp_fd, point->socket)
				    : connect_as_target(sock, point);
	if (rc == -ENOENT)
		return 0;
	if (rc == -ECONNREFUSED) {
		point->dead = st; /* a JVM that was killed leaves its file behind */
		return 0;
	}
	if (rc < 0)
		return refused(point, rc, err);
	if (check_peer(sock, point, err) < 0)
		return -1;
	*fd = TAKE_FD(sock);
	return 1;
}
