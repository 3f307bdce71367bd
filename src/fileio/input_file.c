#include "fileio/input_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "fileio/caller_path.h"
#include "fileio/file_open.h"

int input_file_failed(const char *path, int error, struct err *err)
{
	return err_set(err,
		       error == -EACCES || error == -EPERM ? EXIT_PERMISSION : EXIT_USAGE,
		       "cannot read '%s': %s", path,
		       error == -EINVAL ? "not a regular file" : strerror(-error));
}

static int open_pipe(const char *path, int path_fd, const struct stat *st)
{
	int number = caller_path_descriptor(path), fd;

	if (number >= 0) {
		fd = fcntl(number, F_DUPFD_CLOEXEC, 0);
		return fd < 0 ? -errno : fd;
	}
	if (st->st_uid != 0 && st->st_uid != geteuid())
		return -ENOTUNIQ;
	return file_reopen(path_fd, O_RDONLY, st);
}

int input_file_open(const char *path, int kinds, struct stat *st, struct err *err)
{
	_cleanup_close_ int path_fd = file_open_path(AT_FDCWD, path, 0);
	int fd;

	if (path_fd < 0 || fstat(path_fd, st) < 0)
		return input_file_failed(path, path_fd < 0 ? path_fd : -errno, err);
	if (S_ISFIFO(st->st_mode) && kinds & INPUT_FILE_PIPE)
		fd = open_pipe(path, path_fd, st);
	else
		fd = file_reopen_regular(path_fd, st);
	if (fd == -ENOTUNIQ)
		return err_set(err, EXIT_USAGE,
			       "cannot read '%s': it is another user's pipe; use one of your own",
			       path);
	return fd < 0 ? input_file_failed(path, fd, err) : fd;
}
