#include "base/outfile.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "base/io.h"
#include "base/xalloc.h"

#define LINKS_MAX 40 /* as many as the kernel follows */

#ifndef RENAME_NOREPLACE
#define RENAME_NOREPLACE 1
#endif

static int cannot(const struct outfile *f, const char *why, struct err *err)
{
	return err_set(err, EXIT_PARTIAL, "%s cannot be written: %s", f->path, why);
}

int outfile_failed(const struct outfile *f, int error, struct err *err)
{
	if (f->out_fd < 0)
		return err_set(err, EXIT_PARTIAL, "%s could not be written: %s", f->path,
			       strerror(-error));
	return err_set(err, EXIT_PARTIAL,
		       "no temporary file could take what is to go to %s: %s; "
		       "TMPDIR names the directory for it",
		       f->path, strerror(-error));
}

static struct outguard *guard_of(struct outfile *f)
{
	return f->guard ? f->guard : &f->own_guard;
}

/* What is no regular file gets everything at the end, from one that has no name. */
static int send_later(struct outfile *f, int out_fd, struct err *err)
{
	int flags = out_fd < 0 ? -1 : fcntl(out_fd, F_GETFL);

	if (flags < 0)
		return cannot(f, strerror(errno), err);
	f->out_fd = out_fd;
	if ((flags & O_ACCMODE) == O_RDONLY)
		return cannot(f, "it is not open for writing", err);
	f->fd = io_unnamed_file();
	return f->fd < 0 ? outfile_failed(f, f->fd, err) : 0;
}

/*
 * Replace a path that is a link by where it leads, there or not.  Somebody else's link is not
 * followed: in a directory for all it can lead a privileged caller to any file.
 */
static int follow_link(const struct outfile *f, char **path, bool *was_link, struct err *err)
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
		return cannot(f, strerror(errno), err);
	if (!S_ISLNK(st.st_mode))
		return 0;
	if (st.st_uid != 0 && st.st_uid != geteuid())
		return cannot(f, "it is another user's link; name the file that it leads to", err);
	n = readlinkat(fd, "", target, sizeof(target));
	if (n < 0 || (size_t)n == sizeof(target))
		return cannot(f, strerror(n < 0 ? errno : ENAMETOOLONG), err);
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

/* Open the directory of the result, and tell its name there. */
static int open_dir(struct outfile *f, struct err *err)
{
	/* With a slash in it, so that each link has a directory to start from. */
	_cleanup_free_ char *path = xasprintf("%s%s", strchr(f->path, '/') ? "" : "./", f->path);
	bool was_link = true;
	char *slash;

	for (int i = 0; was_link; i++) {
		if (i == LINKS_MAX)
			return cannot(f, strerror(ELOOP), err);
		if (follow_link(f, &path, &was_link, err) < 0)
			return -1;
	}
	slash = strrchr(path, '/');
	if (!slash[1])
		return cannot(f, strerror(EISDIR), err);
	f->name = xstrdup(slash + 1);
	slash[slash == path ? 1 : 0] = '\0';
	f->dir_fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	f->own_guard.dir_fd = f->dir_fd;
	return f->dir_fd < 0 ? cannot(f, strerror(errno), err) : 0;
}

/* A file in the result's directory, without a name where that can be. */
static int make(struct outfile *f, mode_t mode)
{
	struct outguard *guard = guard_of(f);
	int rc;

	f->fd = openat(f->dir_fd, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, mode);
	if (f->fd >= 0)
		return 0;
	/* EISDIR and EINVAL: it does not know the flag. */
	if (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL)
		return -errno;
	rc = outguard_start(guard);
	if (rc < 0)
		return rc;
	f->fd = openat(guard->dir_fd, guard->name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, mode);
	f->is_hidden = f->fd >= 0;
	return f->is_hidden ? 0 : -errno;
}

/* The mode of a file that is to be replaced. */
static int take_mode(const struct outfile *f)
{
	struct stat old, st;
	mode_t mode;

	if (fstatat(f->dir_fd, f->name, &old, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT ? 0 : -errno;
	if (!S_ISREG(old.st_mode))
		return -EEXIST; /* it was one just now */
	if (fstat(f->fd, &st) < 0)
		return -errno;
	mode = old.st_mode & 0777;
	if (old.st_uid != geteuid())
		mode &= st.st_mode;
	return fchmod(f->fd, mode) < 0 ? -errno : 0;
}

static int open_file(struct outfile *f, mode_t mode, struct err *err)
{
	struct stat st;
	int rc;

	if (!f->replace && lstat(f->path, &st) == 0)
		return err_set(err, EXIT_USAGE, "%s exists; name another file, or say --force",
			       f->path);
	if (open_dir(f, err) < 0)
		return -1;
	rc = make(f, mode);
	if (rc == 0)
		rc = take_mode(f);
	return rc < 0 ? cannot(f, strerror(-rc), err) : 0;
}

static int begin(struct outfile *f, mode_t mode, struct err *err)
{
	struct stat st;

	if (strcmp(f->path, "-") == 0) {
		f->path = "stdout";
		return send_later(f, fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0), err);
	}
	/* The kernel says here whether links in a directory for all may be followed. */
	if (stat(f->path, &st) < 0)
		return errno == ENOENT ? open_file(f, mode, err) : cannot(f, strerror(errno), err);
	if (S_ISDIR(st.st_mode))
		return err_set(err, EXIT_USAGE, "%s is a directory; name a file", f->path);
	if (!S_ISREG(st.st_mode))
		return send_later(f, open(f->path, O_WRONLY | O_NOCTTY | O_CLOEXEC), err);
	return open_file(f, mode, err);
}

static struct outfile nothing_yet(const char *path, bool replace)
{
	return (struct outfile){
		.path = path,
		.fd = -1,
		.out_fd = -1,
		.dir_fd = -1,
		.own_guard = OUTGUARD_INIT(-1),
		.replace = replace,
	};
}

int outfile_open(struct outfile *f, const char *path, int flags, mode_t mode, struct err *err)
{
	*f = nothing_yet(path, flags & OUTFILE_REPLACE);
	if (begin(f, mode, err) == 0)
		return 0;
	outfile_release(f);
	return -1;
}

int outfile_open_at(struct outfile *f, int dir_fd, const char *name, struct outguard *guard,
		    const char *path, mode_t mode, struct err *err)
{
	int rc;

	*f = nothing_yet(path, true);
	f->name = xstrdup(name);
	f->guard = guard;
	f->dir_fd = fcntl(dir_fd, F_DUPFD_CLOEXEC, 0);
	rc = f->dir_fd < 0 ? -errno : make(f, mode);
	if (rc == 0)
		rc = take_mode(f);
	if (rc == 0)
		return 0;
	(void)cannot(f, strerror(-rc), err);
	outfile_release(f);
	return -1;
}

static int send_now(struct outfile *f)
{
	int rc = io_copy(f->fd, f->out_fd);

	return close(TAKE_FD(f->out_fd)) < 0 && rc == 0 ? -errno : rc;
}

/* Some file systems tell only at a close that there was no room; any copy's does. */
static int flush(const struct outfile *f)
{
	int fd = fcntl(f->fd, F_DUPFD_CLOEXEC, 0);

	return fd < 0 || close(fd) < 0 ? -errno : 0;
}

static int link_as(const struct outfile *f, int dir_fd, const char *name)
{
	char path[64];

	/* By its descriptor alone it takes a privilege. */
	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", f->fd);
	return linkat(AT_FDCWD, path, dir_fd, name, AT_SYMLINK_FOLLOW) < 0 ? -errno : 0;
}

/* From the hidden name to its own. */
static int rename_hidden(struct outfile *f)
{
	const struct outguard *from = guard_of(f);
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
	/* Where a rename cannot spare what is there (NFS), a link can. */
	return linkat(from->dir_fd, from->name, f->dir_fd, f->name, 0) < 0 ? -errno : 0;
}

/* From no name to its own: a link replaces nothing, a rename does. */
static int appear(struct outfile *f)
{
	struct outguard *guard = guard_of(f);
	int rc = link_as(f, f->dir_fd, f->name);

	if (rc != -EEXIST || !f->replace)
		return rc;
	rc = outguard_start(guard);
	if (rc == 0)
		rc = link_as(f, guard->dir_fd, guard->name);
	if (rc < 0)
		return rc;
	f->is_hidden = true;
	return rename_hidden(f);
}

int outfile_commit(struct outfile *f, uint64_t *size, struct err *err)
{
	struct stat st;
	int rc = fstat(f->fd, &st) < 0 ? -errno : flush(f);

	if (rc < 0)
		return outfile_failed(f, rc, err);
	if (f->out_fd >= 0)
		rc = send_now(f);
	else
		rc = f->is_hidden ? rename_hidden(f) : appear(f);
	if (rc < 0)
		return outfile_failed(f, rc, err);
	if (size)
		*size = (uint64_t)st.st_size;
	return 0;
}

void outfile_release(struct outfile *f)
{
	util_close_p(&f->fd);
	util_close_p(&f->out_fd);
	if (f->is_hidden)
		(void)unlinkat(guard_of(f)->dir_fd, guard_of(f)->name, 0); /* or the guard does */
	outguard_release(&f->own_guard);
	util_close_p(&f->dir_fd);
	free(f->name);
}
