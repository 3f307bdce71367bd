#include "attach/attach_socket.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "base/xalloc.h"
#include "fileio/child.h"
#include "fileio/file_open.h"

/*
 * Exit status of a child that could not take the target's ids.  The child's other exit statuses are
 * 0 and errno values, which are less than 255.
 */
#define CANNOT_BECOME 255
/*
 * jtool waits for the child this many ms longer than the timeout of the child's connect(2), because
 * the child must start first.
 */
#define CONNECT_SLACK_MS 500

static int check_state(const struct jvm *jvm, char state, struct err *err)
{
	int pid = (int)jvm->pid;

	if (state == 'T')
		return err_set(err, EXIT_ATTACH,
			       "JVM %d is stopped and cannot answer; resume it with kill -CONT %d",
			       pid, pid);
	if (state == 't')
		return err_set(err, EXIT_ATTACH,
			       "JVM %d is stopped by a debugger or tracer and cannot answer; "
			       "detach that, or let the JVM continue", pid);
	return 0;
}

static int check_opened(struct attach_socket *asock, struct err *err)
{
	if (check_state(asock->ns.jvm, asock->ns.opened.state, err) == 0)
		return 0;
	target_ns_close(&asock->ns);
	return -1;
}

int attach_socket_open_process(const struct jvm *jvm, struct attach_socket *asock,
			       struct err *err)
{
	*asock = (struct attach_socket){ .tmp_fd = -1 };
	if (target_ns_open_process(jvm, &asock->ns, err) < 0)
		return -1;
	return check_opened(asock, err);
}

int attach_socket_open(const struct jvm *jvm, struct attach_socket *asock, struct err *err)
{
	struct attach_socket p = { .tmp_fd = -1 };

	if (target_ns_open(jvm, &p.ns, err) < 0 || check_opened(&p, err) < 0)
		return -1;
	p.tmp_fd = target_ns_opendir(&p.ns, jvm_tmp(jvm));
	if (p.tmp_fd < 0) {
		target_ns_close(&p.ns);
		return err_set(err, p.tmp_fd == -EACCES ? EXIT_PERMISSION : EXIT_ATTACH,
			       "cannot attach to JVM %d: cannot open the directory of its attach "
			       "socket, /proc/%d/root%s: %s; jtool opens it as the JVM's user, "
			       "who needs permission to search it",
			       (int)jvm->pid, (int)jvm->pid, jvm_tmp(jvm), strerror(-p.tmp_fd));
	}
	(void)snprintf(p.socket, sizeof(p.socket), ".java_pid%d", (int)jvm->nspid);
	*asock = p;
	return 0;
}

void attach_socket_close(struct attach_socket *asock)
{
	util_close_p(&asock->tmp_fd);
	target_ns_close(&asock->ns);
}

int attach_socket_check_running(const struct attach_socket *asock, struct err *err)
{
	const struct jvm *jvm = asock->ns.jvm;
	struct proc_status status;

	if (target_ns_status(&asock->ns, &status) < 0)
		return jvm_gone(jvm, err);
	return check_state(jvm, status.state, err);
}

/*
 * Returns true if `st` is of the file in asock->dead, which had no listener.  A new file may have
 * the inode number of the dead one, but it has a later change time.
 */
static bool is_dead(const struct attach_socket *asock, const struct stat *st)
{
	const struct stat *dead = &asock->dead;

	return file_is_same(st, dead) && st->st_ctim.tv_sec == dead->st_ctim.tv_sec &&
	       st->st_ctim.tv_nsec == dead->st_ctim.tv_nsec;
}

int attach_socket_exists(const struct attach_socket *asock)
{
	struct stat st;

	if (fstatat(asock->tmp_fd, asock->socket, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT ? 0 : -errno;
	return !is_dead(asock, &st);
}

/*
 * Calls connect(2) in a child process that takes the target's ids, because HotSpot checks the ids
 * of its peer.  The target's user can stop the child (SIGSTOP), so jtool waits with a timeout.
 * Returns 0; -CANNOT_BECOME if the child cannot take the ids; or a negative errno.
 */
static int connect_as_target(int sock, const struct attach_socket *asock, int socket_fd,
			     unsigned timeout_ms)
{
	pid_t pid = fork();

	if (pid < 0)
		return -errno;
	if (pid == 0) {
		if (target_ns_become(&asock->ns) < 0)
			_exit(CANNOT_BECOME);
		_exit(-target_ns_connect(sock, socket_fd));
	}
	return child_wait_errno(pid, deadline_in_ms(timeout_ms + CONNECT_SLACK_MS));
}

/* Returns a path under which jtool can reach the socket, for messages.  The caller frees it. */
static char *visible_path(const struct attach_socket *asock)
{
	const struct jvm *jvm = asock->ns.jvm;

	return xasprintf("/proc/%d/root%s/%s", (int)jvm->pid, jvm_tmp(jvm), asock->socket);
}

static int check_peer(int sock, const struct attach_socket *asock, struct err *err)
{
	const struct jvm *jvm = asock->ns.jvm;
	_cleanup_free_ char *path = NULL;
	struct ucred peer;
	socklen_t len = sizeof(peer);

	if (getsockopt(sock, SOL_SOCKET, SO_PEERCRED, &peer, &len) < 0)
		return err_set(err, EXIT_ATTACH,
			       "cannot attach to JVM %d: cannot identify the process that serves "
			       "its attach socket: %s; try again", (int)jvm->pid, strerror(errno));
	if (peer.pid == jvm->pid)
		return 0;
	path = visible_path(asock);
	return err_set(err, EXIT_ATTACH,
		       "cannot attach to JVM %d: %s is served by process %d: two "
		       "containers share this directory and the pid, or a process impersonates the "
		       "JVM; nothing was sent; give each container its own directory",
		       (int)jvm->pid, path, (int)peer.pid);
}

static int connect_failed(const struct attach_socket *asock, int error, struct err *err)
{
	_cleanup_free_ char *path = visible_path(asock);
	const struct jvm *jvm = asock->ns.jvm;
	struct proc_status status;

	if (target_ns_status(&asock->ns, &status) < 0)
		return jvm_gone(jvm, err);
	if (error == -CANNOT_BECOME)
		return jvm_cannot_become(jvm, strerror(EPERM), err);
	if (error == -EACCES || error == -EPERM)
		return err_set(err, EXIT_PERMISSION,
			       "cannot attach to JVM %d of user %u: cannot connect to %s: %s; %s",
			       (int)jvm->pid, jvm->uid, path, strerror(-error),
			       geteuid() == 0 ? "a security module may forbid it"
					      : "run jtool as that user or as root");
	if (error == -ETIMEDOUT)
		return err_set(err, EXIT_ATTACH,
			       "cannot attach to JVM %d: the jtool process that connects as user "
			       "%u did not end in time: that user has stopped it, or the machine "
			       "is overloaded; try again", (int)jvm->pid, jvm->uid);
	if (error == -EAGAIN)
		return err_set(err, EXIT_ATTACH,
			       "JVM %d accepts no further connections: its attach listener is busy "
			       "or stuck and its queue is full; try again later",
			       (int)jvm->pid);
	return err_set(err, EXIT_ATTACH,
		       "cannot attach to JVM %d: cannot connect to %s: %s; try again",
		       (int)jvm->pid, path, strerror(-error));
}

/* Verifies that the file under the socket's name is a private socket of the JVM's user. */
static int check_file(const struct attach_socket *asock, const struct stat *st, struct err *err)
{
	const mode_t others = S_IRGRP | S_IWGRP | S_IROTH | S_IWOTH;
	const struct jvm *jvm = asock->ns.jvm;
	const char *what = "another user's socket";
	_cleanup_free_ char *path = NULL;

	if (S_ISSOCK(st->st_mode) && st->st_uid == jvm->uid && !(st->st_mode & others))
		return 0;
	if (!S_ISSOCK(st->st_mode))
		what = S_ISLNK(st->st_mode) ? "a symbolic link" : "a file that is not a socket";
	else if (st->st_uid == jvm->uid)
		/* The socket of HotSpot has mode 0600 */
		what = "a socket that other users may use";
	path = visible_path(asock);
	return err_set(err, EXIT_ATTACH,
		       "cannot attach to JVM %d: %s is %s, not its attach socket; remove it if it "
		       "is not in use", (int)jvm->pid, path, what);
}

int attach_socket_connect(struct attach_socket *asock, struct deadline d, int *fd, struct err *err)
{
	_cleanup_close_ int sock = -1;
	_cleanup_close_ int file = file_open_path(asock->tmp_fd, asock->socket, O_NOFOLLOW);
	int left = deadline_left_ms(d), rc;
	/* connect(2) waits while the backlog of a Unix socket is full, but at most SO_SNDTIMEO. */
	const struct timeval timeout = { left / 1000, left % 1000 * 1000 + 1 };
	struct stat st;

	if (file == -ENOENT)
		return 0;
	if (file < 0 || fstat(file, &st) < 0)
		return connect_failed(asock, file < 0 ? file : -errno, err);
	if (is_dead(asock, &st))
		return 0;
	if (check_file(asock, &st, err) < 0)
		return -1;
	sock = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (sock < 0 || setsockopt(sock, SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof(timeout)) < 0)
		return err_no_descriptor(err, EXIT_ATTACH, -errno, "a socket to connect to JVM %d",
					 (int)asock->ns.jvm->pid);
	rc = target_ns_is_ours(&asock->ns) ? target_ns_connect(sock, file)
					   : connect_as_target(sock, asock, file, (unsigned)left);
	if (rc == -ENOENT)
		return 0;
	if (rc == -ECONNREFUSED) {
		asock->dead = st; /* remember the socket file that a killed JVM has left */
		return 0;
	}
	if (rc < 0)
		return connect_failed(asock, rc, err);
	if (check_peer(sock, asock, err) < 0)
		return -1;
	*fd = TAKE_FD(sock);
	return 1;
}
