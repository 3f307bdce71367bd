/*
 * Opening a path inside a target's root without ever leaving it, whatever links the target has
 * put there.
 */
#ifndef JTOOL_PROC_INROOT_H
#define JTOOL_PROC_INROOT_H

#include <sys/stat.h>

#include "base/util.h"

/*
 * Open PATH, taken as below root_fd (an O_PATH directory, as of /proc/PID/root), with these
 * flags; O_CLOEXEC is added.  Links are followed as a process with that root would follow them;
 * on kernels without openat2(2) (before 5.6) a path with a link in it is refused with -ELOOP.
 * With O_NOFOLLOW the last component must be no link.  A descriptor or a negative errno.
 */
int inroot_open(int root_fd, const char *path, int flags) _must_check_;

/*
 * The same for reading a regular file; flags are 0 or O_NOFOLLOW.  *st is what fstat(2) tells
 * about it.  -EINVAL when it is no regular file: then it was not opened at all, which has
 * consequences of its own with a FIFO or a device, and a target in a mount namespace of its own
 * can put any device anywhere.
 */
int inroot_open_regular(int root_fd, const char *path, int flags, struct stat *st) _must_check_;

/* The same for what an O_PATH descriptor has found. */
int inroot_open_found(int path_fd, struct stat *st) _must_check_;

/*
 * A path from a target's maps as one below its root, which is what its link `root` says (NULL:
 * unreadable).  In our mount namespace, a chroot's path shows in front of it; in another one,
 * paths begin at the target's root already.  A part of `path`.
 */
const char *inroot_path(const char *path, const char *root);

#endif
