#include "fileio/file_open.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/sysmacros.h>

int file_open_path(int dir_fd, const char *name, int flags)
{
	int fd = openat(dir_fd, name, O_PATH | O_CLOEXEC | flags);

	return fd < 0 ? -errno : fd;
}

bool file_is_same(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

static bool is_unchanged(const struct stat *a, const struct stat *b)
{
	return file_is_same(a, b) && a->st_uid == b->st_uid &&
	       (a->st_mode & S_IFMT) == (b->st_mode & S_IFMT) && a->st_rdev == b->st_rdev;
}

int file_reopen(int path_fd, int flags, const struct stat *seen)
{
	_cleanup_close_ int fd = -1;
	struct stat st;
	char name[32];

	(void)snprintf(name, sizeof(name), "/proc/self/fd/%d", path_fd);
	fd = open(name, flags | O_NOCTTY | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) < 0)
		return -errno;
	return is_unchanged(&st, seen) ? TAKE_FD(fd) : -ESTALE;
}

int file_reopen_regular(int path_fd, struct stat *st)
{
	if (fstat(path_fd, st) < 0)
		return -errno;
	if (!S_ISREG(st->st_mode))
		return S_ISLNK(st->st_mode) ? -ELOOP : -EINVAL;
	/* O_NONBLOCK, because open(2) would otherwise wait for a file lease. */
	return file_reopen(path_fd, O_RDONLY | O_NONBLOCK, st);
}

int file_open_regular(int dir_fd, const char *name, int flags, struct stat *st)
{
	_cleanup_close_ int fd = file_open_path(dir_fd, name, flags);

	return fd < 0 ? fd : file_reopen_regular(fd, st);
}

/*
 * Needs no check of the type: with O_DIRECTORY, open(2) fails for other files without opening them.
 */
int file_open_dir(int dir_fd, const char *name, int flags)
{
	int fd = openat(dir_fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | flags);

	return fd < 0 ? -errno : fd;
}

int file_create(int dir_fd, const char *name, mode_t mode)
{
	int fd = openat(dir_fd, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);

	return fd < 0 ? -errno : fd;
}

int file_create_unnamed(int dir_fd, const char *dir, mode_t mode)
{
	int fd = openat(dir_fd, dir, O_TMPFILE | O_RDWR | O_CLOEXEC, mode);

	/* EISDIR: the kernel has no O_TMPFILE; EINVAL: the file system does not support it. */
	if (fd < 0 && (errno == EISDIR || errno == EINVAL))
		return -EOPNOTSUPP;
	return fd < 0 ? -errno : fd;
}

int file_open_null(int flags)
{
	_cleanup_close_ int fd = file_open_path(AT_FDCWD, "/dev/null", 0);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return fd < 0 ? fd : -errno;
	if (!S_ISCHR(st.st_mode) || st.st_rdev != makedev(1, 3))
		return -ENODEV;
	return file_reopen(fd, flags, &st);
}
