/*
 * Opens paths below a target's root directory, and never leaves it, whatever links the target
 * creates.  Checks the type of a file before opening it, see fileio/file_open.h.
 */
#ifndef JTOOL_PROC_INROOT_H
#define JTOOL_PROC_INROOT_H

#include <sys/stat.h>

#include "base/util.h"

/*
 * Opens `path` with O_PATH and O_CLOEXEC, as if `root_fd` were the root directory; `root_fd` may be
 * an O_PATH descriptor, for example of /proc/PID/root.  `flags`: O_DIRECTORY, O_NOFOLLOW, both, or
 * 0; with O_NOFOLLOW, the last component must not be a link.  On Linux before 5.6, which has no
 * openat2(2), a path with a link fails with -ELOOP.  Returns a descriptor or a negative errno.
 */
int inroot_open(int root_fd, const char *path, int flags) _must_check_;

/*
 * Opens a regular file for reading, and sets *st as fstat(2) does.  flags: 0 or O_NOFOLLOW.
 * Returns -EINVAL for other kinds of files without opening them: opening a FIFO or a device can
 * block or have side effects, and a target can put device nodes into its own mount namespace.
 */
int inroot_open_regular(int root_fd, const char *path, int flags, struct stat *st) _must_check_;

/*
 * Converts a path from PID/maps to a path in the target's root directory: returns `path` without
 * `root` at its start.  `root` is the path in the link PID/root, or NULL if the link is
 * unreadable.  If the process is chrooted in jtool's mount namespace, the paths in PID/maps begin
 * with `root`; if the process is in another mount namespace, they do not.
 */
const char *inroot_path(const char *path, const char *root);

#endif
