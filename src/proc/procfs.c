#include "proc/procfs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include "fileio/file_open.h"
#include "fileio/io.h"
#include "base/xalloc.h"

int procfs_open(struct procfs *proc, const char *path)
{
	_cleanup_close_ int fd = file_open_path(AT_FDCWD, path, O_DIRECTORY);
	struct statfs fs;

	if (fd < 0)
		return fd;
	if (strcmp(path, "/proc") == 0 &&
	    (fstatfs(fd, &fs) < 0 || (uint32_t)fs.f_type != PROC_SUPER_MAGIC))
		return -ENODEV;
	proc->fd = TAKE_FD(fd);
	proc->root = path;
	return 0;
}

void procfs_close(struct procfs *proc)
{
	util_close_p(&proc->fd);
	proc->fd = -1;
}

static int by_number(const void *a, const void *b)
{
	pid_t x = *(const pid_t *)a, y = *(const pid_t *)b;

	return (x > y) - (x < y);
}

/* Returns the pid in the name of a directory of /proc, or 0 if the name is not a number. */
static pid_t pid_of(const char *name)
{
	long n;
	char *end;

	if (*name < '1' || *name > '9')
		return 0;
	errno = 0;
	n = strtol(name, &end, 10);
	return errno || *end || n > INT_MAX ? 0 : (pid_t)n;
}

int procfs_pids(const struct procfs *proc, pid_t **pids, size_t *n)
{
	int fd = file_open_dir(proc->fd, ".", 0);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	pid_t *list = NULL;
	size_t used = 0, cap = 0;

	if (!dir) {
		int rc = fd < 0 ? fd : -errno;

		util_close_p(&fd);
		return rc;
	}
	for (const struct dirent *entry; (entry = readdir(dir)) != NULL;) {
		pid_t pid = pid_of(entry->d_name);

		if (!pid)
			continue;
		list = xgrow(list, used, &cap, sizeof(*list));
		list[used++] = pid;
	}
	(void)closedir(dir);
	if (used > 0)
		qsort(list, used, sizeof(*list), by_number);
	*pids = list;
	*n = used;
	return 0;
}

static int pid_path(char path[static 128], pid_t pid, const char *name)
{
	int n = snprintf(path, 128, "%d/%s", (int)pid, name);

	return n < 0 || n >= 128 ? -ENAMETOOLONG : 0;
}

/*
 * Uses the owner and group of the directory PID as ids: they are the effective ids of the process,
 * even if the process is undumpable.
 */
bool procfs_take_ids(const struct procfs *proc, pid_t pid, struct fs_ids *saved)
{
	char path[128];
	struct stat st;

	return pid_path(path, pid, "") == 0 && fstatat(proc->fd, path, &st, 0) == 0 &&
	       fs_ids_take(st.st_uid, st.st_gid, saved);
}

static bool is_denied(int rc)
{
	return rc == -EACCES || rc == -EPERM;
}

static int open_path(const struct procfs *proc, const char *path, int flags)
{
	int fd;

	do
		fd = openat(proc->fd, path, flags | O_CLOEXEC);
	while (fd < 0 && errno == EINTR);
	return fd < 0 ? -errno : fd;
}

int procfs_openat(const struct procfs *proc, pid_t pid, const char *name, int flags)
{
	char path[128];
	struct fs_ids saved;
	int rc = pid_path(path, pid, name);

	if (rc == 0)
		rc = open_path(proc, path, flags);
	if (is_denied(rc) && procfs_take_ids(proc, pid, &saved)) {
		rc = open_path(proc, path, flags);
		fs_ids_restore(&saved);
	}
	return rc;
}

int procfs_stat(const struct procfs *proc, pid_t pid, const char *name, struct stat *st)
{
	char path[128];
	struct fs_ids saved;
	int rc = pid_path(path, pid, name);

	if (rc == 0)
		rc = fstatat(proc->fd, path, st, 0) < 0 ? -errno : 0;
	if (is_denied(rc) && procfs_take_ids(proc, pid, &saved)) {
		rc = fstatat(proc->fd, path, st, 0) < 0 ? -errno : 0;
		fs_ids_restore(&saved);
	}
	return rc;
}

/* Stores the text of a link, without a NUL.  Returns its length or a negative errno. */
static int read_link(const struct procfs *proc, const char *path, char target[static PATH_MAX])
{
	ssize_t n = readlinkat(proc->fd, path, target, PATH_MAX);

	return n < 0 ? -errno : n == PATH_MAX ? -ENAMETOOLONG : (int)n;
}

int procfs_read(const struct procfs *proc, pid_t pid, const char *name, struct buf *out, size_t max)
{
	_cleanup_close_ int fd = procfs_openat(proc, pid, name, O_RDONLY);

	return fd < 0 ? fd : io_slurp(fd, out, max);
}

int procfs_read_own(const struct procfs *proc, const char *name, struct buf *out, size_t max)
{
	char path[128];
	int n = snprintf(path, sizeof(path), "self/%s", name);
	_cleanup_close_ int fd =
		n < (int)sizeof(path) ? open_path(proc, path, O_RDONLY) : -ENAMETOOLONG;

	return fd < 0 ? fd : io_slurp(fd, out, max);
}

char *procfs_readlink(const struct procfs *proc, pid_t pid, const char *name)
{
	char path[128], target[PATH_MAX];
	struct fs_ids saved;
	int rc = pid_path(path, pid, name);

	if (rc == 0)
		rc = read_link(proc, path, target);
	if (is_denied(rc) && procfs_take_ids(proc, pid, &saved)) {
		rc = read_link(proc, path, target);
		fs_ids_restore(&saved);
	}
	if (rc >= 0)
		return xstrndup(target, (size_t)rc);
	errno = -rc;
	return NULL;
}

int procfs_threads(const struct procfs *proc, pid_t pid, unsigned *threads)
{
	char path[128];
	struct stat st;
	int rc = pid_path(path, pid, "task");

	if (rc < 0)
		return rc;
	if (fstatat(proc->fd, path, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return -errno;
	/* The link count of a directory is 2 + the number of its subdirectories, here threads. */
	*threads = st.st_nlink > 2 ? (unsigned)st.st_nlink - 2 : 0;
	return 0;
}

int procfs_thread_names(const struct procfs *proc, pid_t pid, procfs_thread_visit *visit, void *arg)
{
	int fd = procfs_openat(proc, pid, "task", O_RDONLY | O_DIRECTORY);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	bool more = true;

	if (!dir) {
		util_close_p(&fd);
		return fd < 0 ? fd : -ENOMEM;
	}
	for (const struct dirent *entry; more && (entry = readdir(dir)) != NULL;) {
		_cleanup_buf_ struct buf name = BUF_INIT;
		char path[64];

		(void)snprintf(path, sizeof(path), "task/%d/comm", (int)pid_of(entry->d_name));
		if (procfs_read(proc, pid, path, &name, 64) < 0 || name.len == 0)
			continue; /* ".", "..", or a thread that has ended */
		name.data[strcspn(name.data, "\n")] = '\0';
		more = visit(name.data, arg);
	}
	(void)closedir(dir);
	return 0;
}
