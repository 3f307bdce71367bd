/*
 * Opens paths below a target's root, and never leaves it, whatever links the target creates.  Looks
 * at a file before it opens it, see fileio/file_open.h.
 */
#ifndef JTOOL_PROC_INROOT_H
#define JTOOL_PROC_INROOT_H

#include <sys/stat.h>

#include "base/util.h"

/*
 * Opens `path` with O_PATH, these flags (O_NOFOLLOW, O_DIRECTORY) and O_CLOEXEC, as if root_fd were
 * our root; it may be an O_PATH descriptor, for example of /proc/PID/root.  Before Linux 5.6
 * introduced openat2(2), a path with a link fails with -ELOOP.  With O_NOFOLLOW, the last component
 * must not be a link.  Returns a descriptor or a negative errno.
 */
int inroot_open(int root_fd, const char *path, int flags) _must_check_;

/*
 * Opens a regular file for reading, and sets *st as fstat(2) does.  flags: 0 or O_NOFOLLOW.
 * Returns -EINVAL for other kinds of files without opening them: opening a FIFO or a device can
 * block or have side effects, and a target can put device nodes into its own mount namespace.
 */
int inroot_open_regular(int root_fd, const char *path, int flags, struct stat *st) _must_check_;

/*
 * Converts a path from PID/maps to one below the target's root.  `root` is the target of the link
 * PID/root, or NULL if it is unreadable.  If a chrooted process is in our mount namespace, its
 * paths begin with its root; if it is in another one, they do not.  Returns a part of `path`.
 */
const char *inroot_path(const char *path, const char *root);

#endif
