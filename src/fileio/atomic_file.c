#include "fileio/atomic_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "fileio/io.h"
#include "base/xalloc.h"

#define LINKS_MAX 40 /* as many as the kernel follows */

#ifndef RENAME_NOREPLACE
#define RENAME_NOREPLACE 1
#endif

static int cannot_write(const struct atomic_file *f, const char *why, struct err *err)
{
	return err_set(err, EXIT_PARTIAL, "cannot write '%s': %s", f->path, why);
}

int atomic_file_failed(const struct atomic_file *f, int error, struct err *err)
{
	if (f->out_fd < 0)
		return cannot_write(f, strerror(-error), err);
	return err_set(err, EXIT_PARTIAL,
		       "cannot write the temporary file for '%s': %s; "
		       "set TMPDIR to another directory",
		       f->path, strerror(-error));
}

static struct tmp_reaper *reaper_of(struct atomic_file *f)
{
	return f->reaper ? f->reaper : &f->own_reaper;
}

/* Prepares an unnamed file, which the commit copies to out_fd: a pipe, a device, stdout. */
static int open_special(struct atomic_file *f, int out_fd, struct err *err)
{
	int flags = out_fd < 0 ? -1 : fcntl(out_fd, F_GETFL);

	if (flags < 0)
		return cannot_write(f, strerror(errno), err);
	f->out_fd = out_fd;
	if ((flags & O_ACCMODE) == O_RDONLY)
		return cannot_write(f, "not open for writing", err);
	f->fd = io_unnamed_file();
	return f->fd < 0 ? atomic_file_failed(f, f->fd, err) : 0;
}

/*
 * Replaces *path by its target if it is a symbolic link, even a dangling one.  Another user's link
 * is refused: in a world-writable directory it could lead a privileged caller to any file.
 */
static int follow_link(const struct atomic_file *f, char **path, bool *was_link, struct err *err)
{
	_cleanup_close_ int fd = open(*path, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	char target[PATH_MAX];
	struct stat st;
	ssize_t n;
	char *to;

	*was_link = false;
	if (fd < 0 && errno == ENOENT)
		return 0;
	if (fd < 0 || fstat(fd, &st) < 0)
		return cannot_write(f, strerror(errno), err);
	if (!S_ISLNK(st.st_mode))
		return 0;
	if (st.st_uid != 0 && st.st_uid != geteuid())
		return cannot_write(f, "another user's symbolic link; give its target", err);
	n = readlinkat(fd, "", target, sizeof(target));
	if (n < 0 || (size_t)n == sizeof(target))
		return cannot_write(f, strerror(n < 0 ? errno : ENAMETOOLONG), err);
	if (target[0] == '/')
		to = xasprintf("%.*s", (int)n, target);
	else
		to = xasprintf("%.*s%.*s", (int)(strrchr(*path, '/') + 1 - *path), *path, (int)n,
			       target);
	free(*path);
	*path = to;
	*was_link = true;
	return 0;
}

/* Opens the directory of the result, and sets the result's name in it. */
static int open_dir(struct atomic_file *f, struct err *err)
{
	/* Ensure a slash: follow_link() resolves relative links from the part before it. */
	_cleanup_free_ char *path = xasprintf("%s%s", strchr(f->path, '/') ? "" : "./", f->path);
	bool was_link = true;
	char *slash;

	for (int i = 0; was_link; i++) {
		if (i == LINKS_MAX)
			return cannot_write(f, strerror(ELOOP), err);
		if (follow_link(f, &path, &was_link, err) < 0)
			return -1;
	}
	slash = strrchr(path, '/');
	if (!slash[1])
		return cannot_write(f, strerror(EISDIR), err);
	f->name = xstrdup(slash + 1);
	slash[slash == path ? 1 : 0] = '\0';
	f->dir_fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	f->own_reaper.dir_fd = f->dir_fd;
	return f->dir_fd < 0 ? cannot_write(f, strerror(errno), err) : 0;
}

/* Creates a file in the result's directory: unnamed if possible, else with a hidden name. */
static int create_temp(struct atomic_file *f, mode_t mode)
{
	struct tmp_reaper *reaper = reaper_of(f);
	int rc;

	f->fd = openat(f->dir_fd, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, mode);
	if (f->fd >= 0)
		return 0;
	/* EISDIR and EINVAL: the kernel or the file system does not know O_TMPFILE. */
	if (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL)
		return -errno;
	rc = tmp_reaper_start(reaper);
	if (rc < 0)
		return rc;
	f->fd = openat(reaper->dir_fd, reaper->name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, mode);
	f->is_hidden = f->fd >= 0;
	return f->is_hidden ? 0 : -errno;
}

/* Gives the file the mode of the file that it will replace, if there is one. */
static int copy_mode(const struct atomic_file *f)
{
	struct stat old, st;
	mode_t mode;

	if (fstatat(f->dir_fd, f->name, &old, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT ? 0 : -errno;
	if (!S_ISREG(old.st_mode))
		return -EEXIST; /* it was a regular file a moment ago */
	if (fstat(f->fd, &st) < 0)
		return -errno;
	mode = old.st_mode & 0777;
	if (old.st_uid != geteuid())
		mode &= st.st_mode;
	return fchmod(f->fd, mode) < 0 ? -errno : 0;
}

static int open_regular(struct atomic_file *f, mode_t mode, struct err *err)
{
	struct stat st;
	int rc;

	if (!f->replace && lstat(f->path, &st) == 0)
		return err_set(err, EXIT_USAGE,
			       "cannot write '%s': file exists; use --force to replace it",
			       f->path);
	if (open_dir(f, err) < 0)
		return -1;
	rc = create_temp(f, mode);
	if (rc == 0)
		rc = copy_mode(f);
	return rc < 0 ? cannot_write(f, strerror(-rc), err) : 0;
}

static int begin(struct atomic_file *f, mode_t mode, struct err *err)
{
	struct stat st;

	if (strcmp(f->path, "-") == 0) {
		f->path = "stdout";
		return open_special(f, fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0), err);
	}
	/* stat(2) fails if fs.protected_symlinks forbids to follow a link on the path. */
	if (stat(f->path, &st) < 0)
		return errno == ENOENT ? open_regular(f, mode, err)
				       : cannot_write(f, strerror(errno), err);
	if (S_ISDIR(st.st_mode))
		return err_set(err, EXIT_USAGE, "cannot write '%s': is a directory; give a file",
			       f->path);
	if (!S_ISREG(st.st_mode))
		return open_special(f, open(f->path, O_WRONLY | O_NOCTTY | O_CLOEXEC), err);
	return open_regular(f, mode, err);
}

static struct atomic_file unopened_file(const char *path, bool replace)
{
	return (struct atomic_file){
		.path = path,
		.fd = -1,
		.out_fd = -1,
		.dir_fd = -1,
		.own_reaper = TMP_REAPER_INIT(-1),
		.replace = replace,
	};
}

int atomic_file_open(struct atomic_file *f, const char *path, int flags, mode_t mode,
		     struct err *err)
{
	*f = unopened_file(path, flags & ATOMIC_FILE_REPLACE);
	if (begin(f, mode, err) == 0)
		return 0;
	atomic_file_release(f);
	return -1;
}

int atomic_file_open_at(struct atomic_file *f, int dir_fd, const char *name,
			struct tmp_reaper *reaper, const char *path, mode_t mode, struct err *err)
{
	int rc;

	*f = unopened_file(path, true);
	f->name = xstrdup(name);
	f->reaper = reaper;
	f->dir_fd = fcntl(dir_fd, F_DUPFD_CLOEXEC, 0);
	rc = f->dir_fd < 0 ? -errno : create_temp(f, mode);
	if (rc == 0)
		rc = copy_mode(f);
	if (rc == 0)
		return 0;
	(void)cannot_write(f, strerror(-rc), err);
	atomic_file_release(f);
	return -1;
}

static int copy_out(struct atomic_file *f)
{
	int rc = io_copy(f->fd, f->out_fd);

	return close(TAKE_FD(f->out_fd)) < 0 && rc == 0 ? -errno : rc;
}

/* Some file systems (NFS) report a full disk on close(2); closing any duplicate suffices. */
static int flush(const struct atomic_file *f)
{
	int fd = fcntl(f->fd, F_DUPFD_CLOEXEC, 0);

	return fd < 0 || close(fd) < 0 ? -errno : 0;
}

static int link_as(const struct atomic_file *f, int dir_fd, const char *name)
{
	char path[64];

	/* AT_EMPTY_PATH would need CAP_DAC_READ_SEARCH. */
	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", f->fd);
	return linkat(AT_FDCWD, path, dir_fd, name, AT_SYMLINK_FOLLOW) < 0 ? -errno : 0;
}

/* Renames the file from its hidden name to its final one. */
static int rename_final(struct atomic_file *f)
{
	const struct tmp_reaper *from = reaper_of(f);
	int rc;

	if (f->replace)
		rc = renameat(from->dir_fd, from->name, f->dir_fd, f->name);
	else
		rc = (int)syscall(SYS_renameat2, from->dir_fd, from->name, f->dir_fd, f->name,
				  RENAME_NOREPLACE);
	f->is_hidden = rc < 0;
	if (rc == 0)
		return 0;
	if (f->replace || (errno != EINVAL && errno != ENOSYS))
		return -errno;
	/* File systems without RENAME_NOREPLACE (NFS): linkat(2) does not replace a file either. */
	return linkat(from->dir_fd, from->name, f->dir_fd, f->name, 0) < 0 ? -errno : 0;
}

/* Gives the unnamed file its final name.  If a file has that name, uses the hidden name first. */
static int link_final(struct atomic_file *f)
{
	struct tmp_reaper *reaper = reaper_of(f);
	int rc = link_as(f, f->dir_fd, f->name);

	if (rc != -EEXIST || !f->replace)
		return rc;
	rc = tmp_reaper_start(reaper);
	if (rc == 0)
		rc = link_as(f, reaper->dir_fd, reaper->name);
	if (rc < 0)
		return rc;
	f->is_hidden = true;
	return rename_final(f);
}

int atomic_file_commit(struct atomic_file *f, uint64_t *size, struct err *err)
{
	struct stat st;
	int rc = fstat(f->fd, &st) < 0 ? -errno : flush(f);

	if (rc < 0)
		return atomic_file_failed(f, rc, err);
	if (f->out_fd >= 0)
		rc = copy_out(f);
	else
		rc = f->is_hidden ? rename_final(f) : link_final(f);
	if (rc < 0)
		return atomic_file_failed(f, rc, err);
	if (size)
		*size = (uint64_t)st.st_size;
	return 0;
}

void atomic_file_release(struct atomic_file *f)
{
	util_close_p(&f->fd);
	util_close_p(&f->out_fd);
	if (f->is_hidden)
		(void)unlinkat(reaper_of(f)->dir_fd, reaper_of(f)->name, 0); /* reaper retries it */
	tmp_reaper_release(&f->own_reaper);
	util_close_p(&f->dir_fd);
	free(f->name);
}
