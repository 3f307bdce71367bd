#include "fileio/atomic_file.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>

#include "fileio/caller_path.h"
#include "fileio/disk_room.h"
#include "fileio/file_open.h"
#include "fileio/io.h"
#include "base/xalloc.h"

/*
 * Maximum time, in ms, for which open_writable() waits until a pipe has a reader.  The reader may
 * start later than jtool.
 */
#ifndef READER_WAIT_MS
#define READER_WAIT_MS 10000
#endif
#define READER_STEP_MS 10

#ifndef RENAME_NOREPLACE
#define RENAME_NOREPLACE 1
#endif

static int cannot_write(const struct atomic_file *f, const char *why, struct err *err)
{
	return err_set(err, EXIT_PARTIAL, "cannot write '%s': %s", f->path, why);
}

int atomic_file_failed(const struct atomic_file *f, int error, struct err *err)
{
	if (f->out_fd < 0 && (error == -DISK_ROOM_FULL || error == -DISK_ROOM_MEMORY))
		return err_set(err, EXIT_PARTIAL, "cannot write '%s': %s; choose another directory",
			       f->path, disk_room_error(error));
	if (f->out_fd < 0)
		return cannot_write(f, strerror(-error), err);
	return io_temp_failed(err, error, "'%s'", f->path);
}

static struct tmp_reaper *reaper_of(struct atomic_file *f)
{
	return f->reaper ? f->reaper : &f->own_reaper;
}

/*
 * Opens an output that exists already: a pipe, a device, or stdout.  The caller writes the data to
 * an unnamed file, which the commit copies to out_fd.
 */
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

/* Creates a file in the result's directory: unnamed if possible, else with a hidden name. */
static int create_temp(struct atomic_file *f, mode_t mode)
{
	struct tmp_reaper *reaper = reaper_of(f);
	int rc;

	f->fd = file_create_unnamed(f->dir_fd, ".", mode);
	if (f->fd >= 0)
		return 0;
	if (f->fd != -EOPNOTSUPP)
		return f->fd;
	rc = tmp_reaper_start(reaper);
	if (rc < 0)
		return rc;
	f->fd = file_create(reaper->dir_fd, reaper->name, mode);
	f->is_hidden = f->fd >= 0;
	return f->is_hidden ? 0 : f->fd;
}

/* If the result will replace a file, gives the result the mode of the replaced file. */
static int copy_mode(const struct atomic_file *f)
{
	struct stat old, st;
	mode_t mode;

	if (fstatat(f->dir_fd, f->name, &old, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT ? 0 : -errno;
	if (!S_ISREG(old.st_mode))
		return -EEXIST; /* somebody has replaced the regular file that the open found */
	if (fstat(f->fd, &st) < 0)
		return -errno;
	mode = old.st_mode & 0777;
	if (old.st_uid != geteuid())
		mode &= st.st_mode;
	return fchmod(f->fd, mode) < 0 ? -errno : 0;
}

static int open_regular(struct atomic_file *f, struct caller_path *p, mode_t mode, struct err *err)
{
	int rc;

	if (!f->replace && (p->fd >= 0 || p->was_link))
		return err_set(err, EXIT_USAGE,
			       "cannot write '%s': file exists; use --force to replace it",
			       f->path);
	f->name = TAKE_PTR(p->name);
	f->own_reaper.dir_fd = f->dir_fd = TAKE_FD(p->dir_fd);
	rc = create_temp(f, mode);
	if (rc == 0)
		rc = copy_mode(f);
	return rc < 0 ? cannot_write(f, strerror(-rc), err) : 0;
}

/*
 * Returns true for /dev/null, /dev/zero, /dev/full and /dev/tty.  jtool may write to these devices
 * whoever owns them, because in a container the owner may be a user of the host.
 */
static bool is_harmless(const struct stat *st)
{
	return S_ISCHR(st->st_mode) &&
	       (st->st_rdev == makedev(1, 3) || st->st_rdev == makedev(1, 5) ||
		st->st_rdev == makedev(1, 7) || st->st_rdev == makedev(5, 0));
}

/* Returns true if only root and the caller can create, rename or link files in the directory. */
static bool is_private(int dir_fd)
{
	struct stat st;

	return fstat(dir_fd, &st) == 0 && !(st.st_mode & (S_IWGRP | S_IWOTH)) &&
	       (st.st_uid == 0 || st.st_uid == geteuid());
}

/* Returns why jtool must not write to this pipe, device or socket; NULL if it may. */
static const char *why_refused(const struct caller_path *p)
{
	bool is_ours = p->st.st_uid == geteuid(), is_roots = p->st.st_uid == 0;

	switch (p->st.st_mode & S_IFMT) {
	case S_IFSOCK:
		return "is a socket";
	case S_IFIFO:
		return is_ours || (is_roots && is_private(p->dir_fd)) ? NULL
								      : "another user's pipe";
	default:
		return is_ours || is_roots || is_harmless(&p->st) ? NULL : "another user's device";
	}
}

/* Opens a pipe or device for writing.  Waits up to READER_WAIT_MS until a pipe has a reader. */
static int open_writable(const struct caller_path *p)
{
	const struct deadline deadline = deadline_in_ms(READER_WAIT_MS);
	int fd;

	for (;;) {
		fd = file_reopen(p->fd, O_WRONLY | O_NONBLOCK, &p->st);
		if (fd != -ENXIO || !S_ISFIFO(p->st.st_mode) || deadline_passed(deadline))
			break;
		(void)poll(NULL, 0, READER_STEP_MS); /* there is no event for a pipe's new reader */
	}
	if (fd >= 0)
		/*
		 * Clear O_NONBLOCK.  If that fails, writes return EAGAIN when the pipe is full, and
		 * io_write_all() waits with poll(2).
		 */
		(void)fcntl(fd, F_SETFL, 0);
	return fd;
}

static int open_other(struct atomic_file *f, const struct caller_path *p, struct err *err)
{
	const char *why = why_refused(p);
	int fd;

	if (why)
		return cannot_write(f, why, err);
	if (S_ISBLK(p->st.st_mode) && !f->replace)
		return err_set(err, EXIT_USAGE,
			       "cannot write '%s': it is a block device; use --force to "
			       "overwrite it",
			       f->path);
	fd = open_writable(p);
	if (fd == -ENXIO && S_ISFIFO(p->st.st_mode))
		return cannot_write(f, "no process reads from this pipe; start the reader", err);
	if (fd < 0)
		return cannot_write(f, strerror(-fd), err);
	return open_special(f, fd, err);
}

static int open_path(struct atomic_file *f, struct caller_path *p, mode_t mode, struct err *err)
{
	if (p->fd < 0 || S_ISREG(p->st.st_mode))
		return open_regular(f, p, mode, err);
	if (S_ISDIR(p->st.st_mode))
		return err_set(err, EXIT_USAGE, "cannot write '%s': it is a directory; give a file",
			       f->path);
	return open_other(f, p, err);
}

static bool ends_in_slash(const char *path)
{
	size_t len = strlen(path);

	return len == 0 || path[len - 1] == '/';
}

static int begin(struct atomic_file *f, mode_t mode, struct err *err)
{
	int number = caller_path_descriptor(f->path);
	struct caller_path p;
	int rc;

	if (strcmp(f->path, "-") == 0) {
		f->path = "stdout";
		number = STDOUT_FILENO;
	}
	f->to_stdout = number == STDOUT_FILENO;
	if (number >= 0)
		return open_special(f, fcntl(number, F_DUPFD_CLOEXEC, 0), err);
	rc = caller_path_open(&p, f->path);
	if (rc < 0)
		return cannot_write(f, caller_path_error(rc), err);
	if (ends_in_slash(f->path) && !(p.fd >= 0 && S_ISDIR(p.st.st_mode)))
		rc = cannot_write(f, strerror(EISDIR), err);
	else
		rc = open_path(f, &p, mode, err);
	caller_path_release(&p);
	return rc;
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

static int refuse_terminal(const struct atomic_file *f, struct err *err)
{
	if (f->out_fd < 0 || !isatty(f->out_fd))
		return 0;
	return err_set(err, EXIT_USAGE,
		       "cannot write '%s': it is a terminal; redirect the output, or name a file",
		       f->path);
}

int atomic_file_open(struct atomic_file *f, const char *path, int flags, mode_t mode,
		     struct err *err)
{
	*f = unopened_file(path, flags & ATOMIC_FILE_REPLACE);
	if (begin(f, mode, err) < 0 ||
	    ((flags & ATOMIC_FILE_BINARY) && refuse_terminal(f, err) < 0)) {
		atomic_file_release(f);
		return -1;
	}
	return 0;
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

/* Sets err for a failed write to f->out_fd.  `error` is a negative errno.  Returns -1. */
static int cannot_send(const struct atomic_file *f, int error, struct err *err)
{
	return error == -EPIPE && f->to_stdout ? err_stdout(err, error) :
						 atomic_file_failed(f, error, err);
}

int atomic_file_send(struct atomic_file *f, struct err *err)
{
	off_t size = f->out_fd < 0 ? 0 : lseek(f->fd, 0, SEEK_END);
	int rc = size < 0 ? -errno : 0;

	if (size == 0)
		return 0;
	if (rc == 0)
		rc = io_copy(f->fd, f->out_fd);
	if (rc == 0 && (ftruncate(f->fd, 0) < 0 || lseek(f->fd, 0, SEEK_SET) < 0))
		rc = -errno;
	if (rc < 0)
		return cannot_send(f, rc, err);
	f->sent += (uint64_t)size;
	return 0;
}

static int copy_out(struct atomic_file *f)
{
	int rc = io_copy(f->fd, f->out_fd);

	return close(TAKE_FD(f->out_fd)) < 0 && rc == 0 ? -errno : rc;
}

/*
 * Closes a duplicate of the file's descriptor, because NFS reports some write errors, such as
 * a full disk, only at close(2).  The file itself stays open.  Returns 0 or a negative errno.
 */
static int flush(const struct atomic_file *f)
{
	int fd = fcntl(f->fd, F_DUPFD_CLOEXEC, 0);

	return fd < 0 || close(fd) < 0 ? -errno : 0;
}

static int link_as(const struct atomic_file *f, int dir_fd, const char *name)
{
	char path[64];

	/* Use a path in /proc, because linkat(2) with AT_EMPTY_PATH needs CAP_DAC_READ_SEARCH. */
	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", f->fd);
	return linkat(AT_FDCWD, path, dir_fd, name, AT_SYMLINK_FOLLOW) < 0 ? -errno : 0;
}

/* Renames the file from its hidden name to its final name. */
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
	/* NFS has no RENAME_NOREPLACE.  linkat(2) also fails if the final name exists. */
	return linkat(from->dir_fd, from->name, f->dir_fd, f->name, 0) < 0 ? -errno : 0;
}

/*
 * Gives the unnamed file its final name.  To replace an existing file, first gives the unnamed file
 * the hidden name, and then renames the hidden name to the final name.
 */
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
		return cannot_send(f, rc, err);
	if (size)
		*size = f->sent + (uint64_t)st.st_size;
	return 0;
}

void atomic_file_release(struct atomic_file *f)
{
	util_close_p(&f->fd);
	util_close_p(&f->out_fd);
	if (f->is_hidden)
		/* If this fails, the reaper process removes the name. */
		(void)unlinkat(reaper_of(f)->dir_fd, reaper_of(f)->name, 0);
	tmp_reaper_release(&f->own_reaper);
	util_close_p(&f->dir_fd);
	free(f->name);
}
