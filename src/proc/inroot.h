/*
 * Opens paths below a target's root directory.  The functions never leave that directory, whatever
 * links the target creates, and check the type of a file before they open it (fileio/file_open.h
 * has the reason).
 */
#ifndef JTOOL_PROC_INROOT_H
#define JTOOL_PROC_INROOT_H

#include <sys/stat.h>

#include "base/util.h"

/*
 * Opens `path` with O_PATH and O_CLOEXEC, as if `root_fd` were the root directory; `root_fd` may be
 * an O_PATH descriptor, for example of /proc/PID/root.  `flags`: O_DIRECTORY, O_NOFOLLOW, both, or
 * 0; O_NOFOLLOW means that the last component must not be a link.  Returns a descriptor or a
 * negative errno.  On Linux before 5.6, without openat2(2), returns -ELOOP if `path` has a link.
 */
int inroot_open(int root_fd, const char *path, int flags) _must_check_;

/*
 * Opens a regular file for reading, and sets *st as fstat(2) does.  `flags`: 0 or O_NOFOLLOW.
 * Returns a descriptor or a negative errno.  Does not open a file of another kind, but returns
 * -EINVAL, because opening a FIFO or a device can block or have side effects, and a target can put
 * device nodes into its own mount namespace.
 */
int inroot_open_regular(int root_fd, const char *path, int flags, struct stat *st) _must_check_;

/*
 * Converts a path from PID/maps to a path in the target's root directory: returns `path`, without
 * `root` if `path` begins with it.  `root` is the path in the link PID/root; NULL if the link is
 * unreadable.  The paths in PID/maps begin with `root` if the process is chrooted in jtool's mount
 * namespace, but not if the process is in another mount namespace.
 */
const char *inroot_path(const char *path, const char *root);

#endif
