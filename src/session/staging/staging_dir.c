#include "session/staging/staging_dir.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>

#include "fileio/file_open.h"
#include "fileio/io.h"
#include "base/xalloc.h"

#define ENTRIES_MAX 1000 /* maximum number of directory entries whose sizes are added up */

/* attempts to lock the directory, 10 ms apart; a helper that is removing it needs less than 1 s */
#define ENTER_TRIES 100
#define SIBLINGS_MAX 20000 /* maximum number of directory entries that are checked for leftovers */
/* number of attempts to remove a directory, in which a JVM may create a file meanwhile */
#define REMOVE_TRIES 10
/*
 * bytes of a FIFO's buffer: as many as a user without privileges may set, so that the writer rarely
 * blocks
 */
#define FIFO_SIZE (1024 * 1024)

void staging_dir_init(struct staging_dir *sd, uid_t uid, pid_t nspid, const char *file,
		      const char *socket, bool exclusive)
{
	uint32_t random[2];
	size_t len;

	arc4random_buf(random, sizeof(random));
	*sd = (struct staging_dir){ .parent_fd = -1, .dir_fd = -1, .file = file };
	(void)snprintf(sd->prefix, sizeof(sd->prefix), ".jtool-%u-", (unsigned)uid);
	len = (size_t)snprintf(sd->name, sizeof(sd->name), "%s%d", sd->prefix, (int)nspid);
	if (exclusive)
		(void)snprintf(sd->name + len, sizeof(sd->name) - len, "-%08x%08x", random[0],
			       random[1]);
	(void)snprintf(sd->socket, sizeof(sd->socket), ".s-%08x%08x", random[0], random[1]);
	if (socket)
		/* Ignore the length: if the name is truncated, the JVM does not find the socket. */
		(void)strlcpy(sd->socket, socket, sizeof(sd->socket));
}

/*
 * Opens a directory, which must belong to this user and have the mode 0700.  Returns a descriptor
 * or a negative errno: -ENOTUNIQ for another owner or mode.
 */
static int open_private(int parent_fd, const char *name)
{
	_cleanup_close_ int fd = file_open_dir(parent_fd, name, O_NOFOLLOW);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return fd < 0 ? TAKE_FD(fd) : -errno;
	if (st.st_uid != geteuid() || (st.st_mode & 0777) != 0700)
		return -ENOTUNIQ;
	return TAKE_FD(fd);
}

static bool is_linked(int parent_fd, const char *name, int fd)
{
	struct stat there, here;

	if (fstatat(parent_fd, name, &there, AT_SYMLINK_NOFOLLOW) < 0 || fstat(fd, &here) < 0)
		return false;
	return file_is_same(&there, &here);
}

static const char *explain(int error)
{
	switch (error) {
	case -ENOTUNIQ:
	case -ENOTDIR:
	case -ELOOP:
		return "its name is used by something other than the private directory";
	case -EAGAIN:
		return "its private directory is locked by another process";
	default:
		return strerror(-error);
	}
}

static int lock_private(const struct staging_dir *sd)
{
	_cleanup_close_ int fd = open_private(sd->parent_fd, sd->name);

	if (fd < 0)
		return TAKE_FD(fd);
	if (flock(fd, LOCK_SH | LOCK_NB) < 0)
		return -errno;
	return is_linked(sd->parent_fd, sd->name, fd) ? TAKE_FD(fd) : -ENOENT;
}

/*
 * Creates or opens the private directory, and locks it.  Returns the descriptor with the lock;
 * -EAGAIN if another helper is removing the directory; or another negative errno.
 */
static int try_enter(const struct staging_dir *sd)
{
	bool made = mkdirat(sd->parent_fd, sd->name, 0700) == 0;
	int fd;

	if (!made && errno != EEXIST)
		return -errno;
	fd = lock_private(sd);
	if (fd == -ENOENT || fd == -EWOULDBLOCK)
		return -EAGAIN;
	if (fd < 0 && made)
		(void)unlinkat(sd->parent_fd, sd->name, AT_REMOVEDIR);
	return fd;
}

const char *staging_dir_enter(struct staging_dir *sd)
{
	int fd = try_enter(sd);

	for (int i = 0; fd == -EAGAIN && i < ENTER_TRIES; i++) {
		(void)poll(NULL, 0, 10); /* poll, because flock(2) has no timeout */
		fd = try_enter(sd);
	}
	if (fd < 0)
		return explain(fd);
	sd->dir_fd = fd;
	return NULL;
}

static bool has_content(int fd, const char *data, size_t len)
{
	_cleanup_free_ char *chunk = xmalloc(65536);
	size_t done = 0;

	for (;;) {
		ssize_t n = io_read(fd, chunk, 65536);

		if (n < 0 || (size_t)n > len - done || memcmp(chunk, data + done, (size_t)n) != 0)
			return false;
		if (n == 0)
			return done == len;
		done += (size_t)n;
	}
}

/*
 * Opens a file for reading, without blocking.  Returns a descriptor; -ENOTUNIQ if the file is not
 * of the type `type` (S_IFREG, S_IFIFO) or another user owns it; or another negative errno.
 */
static int open_typed(int dir_fd, const char *name, mode_t type)
{
	_cleanup_close_ int fd = file_open_path(dir_fd, name, O_NOFOLLOW);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return fd < 0 ? TAKE_FD(fd) : -errno;
	if ((st.st_mode & S_IFMT) != type || st.st_uid != geteuid())
		return -ENOTUNIQ;
	return file_reopen(fd, O_RDONLY | O_NONBLOCK, &st);
}

int staging_dir_open_file(const struct staging_dir *sd)
{
	return open_typed(sd->dir_fd, sd->file, S_IFREG);
}

/*
 * Calls visit() for each name in a directory, but for at most `max` names, because the target can
 * create any number of them.
 */
static void for_each_name(int dir_fd, int max, void (*visit)(void *, int, const char *), void *arg)
{
	int fd = file_open_dir(dir_fd, ".", 0);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *entry;

	if (!dir) {
		util_close_p(&fd);
		return;
	}
	for (int i = 0; i < max && (entry = readdir(dir)); i++)
		visit(arg, dir_fd, entry->d_name);
	(void)closedir(dir);
}

static void add_size(void *sum, int dir_fd, const char *name)
{
	uint64_t *bytes = sum;
	struct stat st;

	if (fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st.st_mode))
		*bytes += (uint64_t)st.st_size;
}

uint64_t staging_dir_bytes(const struct staging_dir *sd)
{
	uint64_t sum = 0;

	for_each_name(sd->dir_fd, ENTRIES_MAX, add_size, &sum);
	return sum;
}

static bool has_prefix(const char *name, const char *prefix)
{
	return strncmp(name, prefix, strlen(prefix)) == 0;
}

struct parts {
	const char *file; /* name of the file into which the target merges */
	bool found;
};

static void find_part(void *arg, int dir_fd, const char *name)
{
	struct parts *parts = arg;
	size_t len = strlen(parts->file);
	struct stat st;

	if (!has_prefix(name, parts->file))
		return;
	if (name[len] == '.')
		parts->found = true;
	if (name[len] == '\0')
		parts->found |= fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
				S_ISREG(st.st_mode) && st.st_size == 0;
}

bool staging_dir_is_merged_into(const struct staging_dir *sd)
{
	struct parts parts = { sd->file, false };

	for_each_name(sd->dir_fd, ENTRIES_MAX, find_part, &parts);
	return parts.found;
}

static bool has_equal_file(const struct staging_dir *sd, const void *data, size_t len)
{
	_cleanup_close_ int fd = staging_dir_open_file(sd);

	return fd >= 0 && has_content(fd, data, len);
}

static int write_file(const struct staging_dir *sd, const char *name, const void *data, size_t len)
{
	int fd = file_create(sd->dir_fd, name, 0600);
	int rc;

	if (fd < 0)
		return fd;
	/* The deadline has no effect, because writing to a regular file does not block. */
	rc = io_write_all(fd, data, len, deadline_in_ms(0));
	if (close(fd) < 0 && rc == 0)
		rc = -errno; /* some file systems report an exceeded quota only at close(2) */
	return rc;
}

const char *staging_dir_put_file(struct staging_dir *sd, const void *data, size_t len)
{
	char name[sizeof(sd->socket) + 4];
	int rc;

	if (has_equal_file(sd, data, len))
		return NULL;
	(void)snprintf(name, sizeof(name), ".new%s", sd->socket);
	rc = write_file(sd, name, data, len);
	if (rc == 0 && renameat(sd->dir_fd, name, sd->dir_fd, sd->file) < 0)
		rc = -errno;
	if (rc < 0) {
		(void)unlinkat(sd->dir_fd, name, 0);
		return strerror(-rc);
	}
	sd->file_is_ours = true;
	return NULL;
}

const char *staging_dir_put_fifo(const struct staging_dir *sd, int *fd)
{
	int end;

	if (mkfifoat(sd->dir_fd, sd->file, 0600) < 0)
		return strerror(errno);
	end = open_typed(sd->dir_fd, sd->file, S_IFIFO);
	if (end < 0)
		return explain(end);
	/*
	 * Ignore a failure: the FIFO's buffer then has the smaller default size, and the writer
	 * blocks more often.
	 */
	(void)fcntl(end, F_SETPIPE_SZ, FIFO_SIZE);
	*fd = end;
	return NULL;
}

static void remove_leftover(void *arg, int dir_fd, const char *name)
{
	int fifo;

	(void)arg;
	if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0 || has_prefix(name, STAGING_KEPT))
		return;
	/*
	 * If the name is that of a FIFO, a JVM may be blocked in open(2) until the FIFO has a
	 * reader.  Open the FIFO, so that the JVM continues; when `fifo` is closed, the JVM's
	 * write fails.
	 */
	fifo = open_typed(dir_fd, name, S_IFIFO);
	(void)unlinkat(dir_fd, name, 0); /* if that fails, the file stays */
	if (fifo >= 0)
		(void)close(fifo); /* only for reading: nothing is lost */
}

/*
 * Removes the files in a directory, except those that are kept, and the directory if it is then
 * empty.  If it is not empty, tries again, because the JVM may have created a file during the
 * removal.
 */
static void remove_dir(struct staging_dir *sd, int dir_fd, const char *name)
{
	for (int i = 0; i < REMOVE_TRIES; i++) {
		for_each_name(dir_fd, SIBLINGS_MAX, remove_leftover, NULL);
		if (unlinkat(sd->parent_fd, name, AT_REMOVEDIR) == 0 || errno != ENOTEMPTY)
			return;
	}
}

/* If `name` is a private directory of this user, and no helper has locked it, removes it. */
static void remove_sibling(void *arg, int parent_fd, const char *name)
{
	struct staging_dir *sd = arg;
	_cleanup_close_ int fd = -1;

	if (!has_prefix(name, sd->prefix))
		return;
	fd = open_private(parent_fd, name);
	if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0 && is_linked(parent_fd, name, fd))
		remove_dir(sd, fd, name);
}

static void leave_dir(struct staging_dir *sd, bool discard)
{
	(void)unlinkat(sd->dir_fd, sd->socket, 0);
	/* Nobody else removes this file, so remove it even if another helper uses the directory. */
	if (discard && sd->file_is_ours && has_prefix(sd->file, STAGING_KEPT))
		(void)unlinkat(sd->dir_fd, sd->file, 0);
	if (flock(sd->dir_fd, LOCK_EX | LOCK_NB) < 0)
		return; /* the helper that leaves last removes the other files and the directory */
	remove_dir(sd, sd->dir_fd, sd->name);
}

void staging_dir_leave(struct staging_dir *sd, bool discard)
{
	if (sd->dir_fd >= 0) {
		leave_dir(sd, discard);
		util_close_p(&sd->dir_fd);
		for_each_name(sd->parent_fd, SIBLINGS_MAX, remove_sibling, sd);
	}
	util_close_p(&sd->parent_fd);
	sd->dir_fd = sd->parent_fd = -1;
	sd->file_is_ours = false;
}
