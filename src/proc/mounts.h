/*
 * The mounts of a process, from PID/mountinfo.  The kernel generates this file without a request to
 * the mounted file systems, so reading it cannot block.
 */
#ifndef JTOOL_PROC_MOUNTS_H
#define JTOOL_PROC_MOUNTS_H

#include <stdbool.h>

#include "proc/procfs.h"

struct mount {
	char *point; /* mount point: absolute path in the root of the process */
	char *type;  /* file system type: "ext4", "fuse.sshfs", "nfs4", … */
};

void mount_release(struct mount *m);

/* Decodes, in place, the escapes \ooo of mountinfo for spaces, line ends and backslashes. */
void mount_unescape(char *text);

/*
 * Finds, in the text of PID/mountinfo, the mount that contains an absolute path.  Skips mounts that
 * are hidden by another mount over their point or a parent of it.  Does not resolve links in the
 * path.  Returns false if no mount contains the path.  Does no I/O.
 */
bool mount_find(const char *mountinfo, const char *path, struct mount *m) _must_check_;

/*
 * Returns true if file systems of this type need a server, that is another process or machine,
 * which may stop answering.
 */
bool mount_may_hang(const char *type);

/*
 * Appends the text of self/mountinfo to `out`.  If `proc` is the real /proc, caches the text for
 * half a second, because reading it takes as long as reading all other files of a short command.
 * Returns 0 or a negative errno.
 */
int mounts_read_own(const struct procfs *proc, struct buf *out) _must_check_;

/*
 * Returns true if every mount in the text of PID/mountinfo is of a type that needs no server.
 * Assumes that an overlay needs no server, and does not examine its layers.  Does no I/O.
 */
bool mounts_need_no_server(const char *mountinfo);

/*
 * Returns true if these three conditions show that reading the files of a process cannot block
 * forever:
 * - the process is in jtool's mount namespace;
 * - every mount in this namespace is of a type that needs no server;
 * - the root directory of the process is jtool's root directory or below it.
 *
 * If true, jtool reads the files itself, which takes a tenth of the time that a worker takes.  In
 * another mount namespace, that of a container, the process may be able to mount any file system;
 * in jtool's namespace only an administrator can mount.
 */
bool mounts_are_local(const struct procfs *proc, pid_t pid);
/*
 * The two parts of mounts_are_local().  mounts_of_ns_are_local() checks the first two conditions,
 * about the mount namespace; mounts_are_below_our_root() checks the third, about the root
 * directory.
 */
bool mounts_of_ns_are_local(const struct procfs *proc, pid_t pid);
bool mounts_are_below_our_root(const struct procfs *proc, pid_t pid);

/*
 * Returns true if `mountinfo` and `other`, the texts of PID/mountinfo of two processes, show that
 * both processes have the same root directory.  The texts show this because the id of a mount is
 * unique on the machine, and mount points are relative to the root of the process.  Does no I/O.
 */
bool mounts_have_same_root(const char *mountinfo, const char *other);

/*
 * Opens the root directory of a process, with O_PATH.  If the process has jtool's user and group,
 * but more capabilities than jtool, the kernel denies PID/root and permits PID/mountinfo.  In this
 * case, if PID/mountinfo shows that the process has the same root as jtool, opens jtool's own root.
 * Returns a descriptor or a negative errno.
 */
int mounts_open_root(const struct procfs *proc, pid_t pid) _must_check_;

/* Returns true if the file `fd` is in a mount of jtool's namespace, and not in a detached mount. */
bool mounts_have_file(const struct procfs *proc, int fd);

#endif
