#include "session/nest.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>

#include "base/io.h"
#include "base/xalloc.h"

#define ENTER_TRIES 100 /* of 10 ms: longer than any keeper takes to tidy up */
#define SIBLINGS_MAX 20000 /* entries of a directory that are looked at for leftovers */
#define REMOVE_TRIES 10 /* a JVM puts only so many files into a directory that is going */
#define FIFO_SIZE (1024 * 1024) /* what any user may have; fewer waits for the reader */
#define DIR_FLAGS (O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)

void nest_init(struct nest *n, uid_t uid, pid_t nspid, const char *file, bool alone)
{
	uint32_t random[2];
	size_t len;

	arc4random_buf(random, sizeof(random));
	*n = (struct nest){ .parent_fd = -1, .dir_fd = -1, .file = file };
	(void)snprintf(n->prefix, sizeof(n->prefix), ".jtool-%u-", (unsigned)uid);
	len = (size_t)snprintf(n->name, sizeof(n->name), "%s%d", n->prefix, (int)nspid);
	if (alone)
		(void)snprintf(n->name + len, sizeof(n->name) - len, "-%08x%08x", random[0],
			       random[1]);
	(void)snprintf(n->socket, sizeof(n->socket), ".s-%08x%08x", random[0], random[1]);
}

/* A private directory of ours, nobody else's: a descriptor or -errno. */
static int open_private(int parent_fd, const char *name)
{
	_cleanup_close_ int fd = openat(parent_fd, name, DIR_FLAGS);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return -errno;
	if (st.st_uid != geteuid() || (st.st_mode & 0777) != 0700)
		return -ENOTUNIQ;
	return TAKE_FD(fd);
}

static bool is_linked(int parent_fd, const char *name, int fd)
{
	struct stat there, here;

	if (fstatat(parent_fd, name, &there, AT_SYMLINK_NOFOLLOW) < 0 || fstat(fd, &here) < 0)
		return false;
	return there.st_dev == here.st_dev && there.st_ino == here.st_ino;
}

static const char *explain(int error)
{
	switch (error) {
	case -ENOTUNIQ:
	case -ENOTDIR:
	case -ELOOP:
		return "the name is taken by something that is not the target's private directory";
	case -EAGAIN:
		return "its private directory stays locked by another process";
	default:
		return strerror(-error);
	}
}

static int lock_private(const struct nest *n)
{
	_cleanup_close_ int fd = open_private(n->parent_fd, n->name);

	if (fd < 0)
		return TAKE_FD(fd);
	if (flock(fd, LOCK_SH | LOCK_NB) < 0)
		return -errno;
	return is_linked(n->parent_fd, n->name, fd) ? TAKE_FD(fd) : -ENOENT;
}

/* One try: a locked descriptor, -EAGAIN when somebody is just removing it, or -errno. */
static int try_enter(const struct nest *n)
{
	bool made = mkdirat(n->parent_fd, n->name, 0700) == 0;
	int fd;

	if (!made && errno != EEXIST)
		return -errno;
	fd = lock_private(n);
	if (fd == -ENOENT || fd == -EWOULDBLOCK)
		return -EAGAIN;
	if (fd < 0 && made)
		(void)unlinkat(n->parent_fd, n->name, AT_REMOVEDIR);
	return fd;
}

const char *nest_enter(struct nest *n)
{
	int fd = try_enter(n);

	for (int i = 0; fd == -EAGAIN && i < ENTER_TRIES; i++) {
		(void)poll(NULL, 0, 10); /* flock(2) has no timeout */
		fd = try_enter(n);
	}
	if (fd < 0)
		return explain(fd);
	n->dir_fd = fd;
	return NULL;
}

static bool has_content(int fd, const char *data, size_t len)
{
	_cleanup_free_ char *piece = xmalloc(65536);
	size_t done = 0;

	for (;;) {
		ssize_t n = io_read(fd, piece, 65536);

		if (n < 0 || (size_t)n > len - done || memcmp(piece, data + done, (size_t)n) != 0)
			return false;
		if (n == 0)
			return done == len;
		done += (size_t)n;
	}
}

/* Open for reading what is of this type and the target's user's, and never wait for it. */
static int open_typed(const struct nest *n, mode_t type)
{
	_cleanup_close_ int fd =
		openat(n->dir_fd, n->file, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return errno == ELOOP ? -ENOTUNIQ : -errno;
	return (st.st_mode & S_IFMT) == type && st.st_uid == geteuid() ? TAKE_FD(fd) : -ENOTUNIQ;
}

int nest_open_file(const struct nest *n)
{
	return open_typed(n, S_IFREG);
}

static bool is_there(const struct nest *n, const void *data, size_t len)
{
	_cleanup_close_ int fd = nest_open_file(n);

	return fd >= 0 && has_content(fd, data, len);
}

static int write_file(const struct nest *n, const char *name, const void *data, size_t len)
{
	const int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
	int fd = openat(n->dir_fd, name, flags, 0600);
	int rc;

	if (fd < 0)
		return -errno;
	rc = io_write_all(fd, data, len, deadline_in_ms(0)); /* a file never makes it wait */
	if (close(fd) < 0 && rc == 0)
		rc = -errno; /* a quota may tell only now */
	return rc;
}

const char *nest_put_file(struct nest *n, const void *data, size_t len)
{
	char name[64];
	int rc;

	if (is_there(n, data, len))
		return NULL;
	(void)snprintf(name, sizeof(name), ".new%s", n->socket);
	rc = write_file(n, name, data, len);
	if (rc == 0 && renameat(n->dir_fd, name, n->dir_fd, n->file) < 0)
		rc = -errno;
	if (rc < 0) {
		(void)unlinkat(n->dir_fd, name, 0);
		return strerror(-rc);
	}
	n->file_is_ours = true;
	return NULL;
}

const char *nest_put_fifo(const struct nest *n, int *fd)
{
	int end;

	if (mkfifoat(n->dir_fd, n->file, 0600) < 0)
		return strerror(errno);
	end = open_typed(n, S_IFIFO);
	if (end < 0)
		return explain(end);
	(void)fcntl(end, F_SETPIPE_SZ, FIFO_SIZE); /* a smaller one serves, too */
	*fd = end;
	return NULL;
}

/* Call with every name in a directory; reading stops at SIBLINGS_MAX. */
static void for_each_name(int dir_fd, void (*visit)(const struct nest *, int, const char *),
			  const struct nest *n)
{
	int fd = openat(dir_fd, ".", DIR_FLAGS);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *entry;

	if (!dir) {
		util_close_p(&fd);
		return;
	}
	for (int i = 0; i < SIBLINGS_MAX && (entry = readdir(dir)); i++)
		visit(n, dir_fd, entry->d_name);
	(void)closedir(dir);
}

static bool has_prefix(const char *name, const char *prefix)
{
	return strncmp(name, prefix, strlen(prefix)) == 0;
}

static bool is_fifo(int dir_fd, const char *name)
{
	struct stat st;

	return fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISFIFO(st.st_mode);
}

static void remove_leftover(const struct nest *n, int dir_fd, const char *name)
{
	size_t len = n->stem ? strlen(n->stem) : 0;
	_cleanup_close_ int fifo = -1;

	if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
		return;
	if (name[0] != '.' && !(n->stem && has_prefix(name, n->stem) && name[len] == '-'))
		return;
	/* A JVM that waits for a FIFO's reader is let go: its write fails when this is closed. */
	if (is_fifo(dir_fd, name))
		fifo = openat(dir_fd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	(void)unlinkat(dir_fd, name, 0); /* what cannot be removed is left */
}

/*
 * Remove what nobody needs.  The directory stays when something is kept in it; a file that the
 * JVM makes while this goes on is no reason.
 */
static void remove_dir(const struct nest *n, int dir_fd, const char *name)
{
	for (int i = 0; i < REMOVE_TRIES; i++) {
		for_each_name(dir_fd, remove_leftover, n);
		if (unlinkat(n->parent_fd, name, AT_REMOVEDIR) == 0 || errno != ENOTEMPTY)
			return;
	}
}

/* A directory that a killed keeper left for another JVM of this user, if it is one. */
static void remove_sibling(const struct nest *n, int parent_fd, const char *name)
{
	_cleanup_close_ int fd = -1;

	if (!has_prefix(name, n->prefix))
		return;
	fd = open_private(parent_fd, name);
	if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0 && is_linked(parent_fd, name, fd))
		remove_dir(n, fd, name);
}

static void leave_dir(struct nest *n, bool discard)
{
	(void)unlinkat(n->dir_fd, n->socket, 0);
	if (flock(n->dir_fd, LOCK_EX | LOCK_NB) < 0)
		return; /* the last one does the rest */
	if (discard && n->file_is_ours)
		(void)unlinkat(n->dir_fd, n->file, 0);
	remove_dir(n, n->dir_fd, n->name);
}

void nest_leave(struct nest *n, bool discard)
{
	if (n->dir_fd >= 0) {
		leave_dir(n, discard);
		util_close_p(&n->dir_fd);
		for_each_name(n->parent_fd, remove_sibling, n);
	}
	util_close_p(&n->parent_fd);
	n->dir_fd = n->parent_fd = -1;
	n->file_is_ours = false;
}
