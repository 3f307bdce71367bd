/*
 * Opens files after a check of their type and owner.
 *
 * Opening a FIFO can block, and opening a device can have side effects: for example, a watchdog
 * timer starts to run.  Between stat(2) and open(2), another user may put a different file under
 * the name.  Where this is possible, the file is opened in three steps:
 * - open it with O_PATH, which has no effect on the file;
 * - check its type and owner with fstat(2);
 * - open the same file again, through /proc/self/fd.
 *
 * Few other modules open files themselves; scripts/check-opens lists them, with the reasons.  The
 * functions return a descriptor with O_CLOEXEC, or a negative errno.
 */
#ifndef JTOOL_FILEIO_FILE_OPEN_H
#define JTOOL_FILEIO_FILE_OPEN_H

#include <stdbool.h>
#include <sys/stat.h>

#include "base/util.h"

/* Opens a file or directory with O_PATH.  `flags`: O_NOFOLLOW, O_DIRECTORY, both, or 0. */
int file_open_path(int dir_fd, const char *name, int flags) _must_check_;

/*
 * Opens the file of the O_PATH descriptor path_fd again.  `flags` are those of open(2); `seen` is
 * the result of fstat(2) for path_fd.  Returns -ESTALE if a file other than `seen` was opened,
 * which means that /proc is not procfs.
 */
int file_reopen(int path_fd, int flags, const struct stat *seen) _must_check_;

/* Returns true if both are of one file: the device and the inode are the same. */
bool file_is_same(const struct stat *a, const struct stat *b);

/*
 * Opens the regular file of an O_PATH descriptor for reading, and sets *st as fstat(2) does.
 * Returns -ELOOP for a symbolic link and -EINVAL for other kinds of files, without opening them.
 */
int file_reopen_regular(int path_fd, struct stat *st) _must_check_;

/*
 * Opens the regular file `name` for reading, and sets *st, like file_reopen_regular().  `flags` is
 * 0 or O_NOFOLLOW.
 */
int file_open_regular(int dir_fd, const char *name, int flags, struct stat *st) _must_check_;

/* Opens a directory to read its entries.  `flags` is 0 or O_NOFOLLOW. */
int file_open_dir(int dir_fd, const char *name, int flags) _must_check_;

/* Creates a file for reading and writing; fails if the name exists, even as a symbolic link. */
int file_create(int dir_fd, const char *name, mode_t mode) _must_check_;

/* Creates an unnamed file in a directory.  Returns -EOPNOTSUPP if that is not supported there. */
int file_create_unnamed(int dir_fd, const char *dir, mode_t mode) _must_check_;

/*
 * Opens /dev/null.  `flags` is O_RDONLY, O_WRONLY or O_RDWR.  Returns -ENODEV if /dev/null is not
 * the null device.
 */
int file_open_null(int flags) _must_check_;

#endif
