/*
 * Mounts of a process, from PID/mountinfo.  The kernel shows them without asking the file systems.
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

/*
 * Finds the mount of an absolute path in the text of PID/mountinfo; links in the path are not
 * resolved.  Returns false if no mount has the path.  Does no I/O.
 */
bool mount_find(const char *mountinfo, const char *path, struct mount *m) _must_check_;

/*
 * Returns true for types of file systems that need a server (another process or machine), which may
 * stop answering.
 */
bool mount_may_hang(const char *type);

/*
 * Appends self/mountinfo to `out`.  If `proc` is the real /proc, the text is cached for half a
 * second, because reading it takes as long as reading all other files that a short command reads.
 * Returns 0 or a negative errno.
 */
int mounts_read_own(const struct procfs *proc, struct buf *out) _must_check_;

/*
 * Returns true if every mount in the text of PID/mountinfo is of a type that needs no server.  An
 * overlay is assumed to need no server: its layers are not examined.  Does no I/O.
 */
bool mounts_need_no_server(const char *mountinfo);

/*
 * Returns true if reading the files of a process cannot block forever: the process is in jtool's
 * mount namespace, every mount in this namespace is of a type that needs no server, and the root
 * directory of the process is jtool's own or below it.  Then jtool reads the files itself, which
 * takes a tenth of the time that a worker takes.  In a container, a process may mount any file
 * system; in jtool's namespace, only an administrator can.
 */
bool mounts_are_local(const struct procfs *proc, pid_t pid);
/*
 * The two parts of mounts_are_local().  mounts_of_ns_are_local() returns true if the process is in
 * jtool's mount namespace and every mount there needs no server; mounts_are_below_our_root()
 * returns true if the root directory of the process is jtool's own or below it.
 */
bool mounts_of_ns_are_local(const struct procfs *proc, pid_t pid);
bool mounts_are_below_our_root(const struct procfs *proc, pid_t pid);

/*
 * Returns true if the texts of PID/mountinfo of two processes show that both have the same root
 * directory.  A mount has the same number in all namespaces, and PID/mountinfo shows mount points
 * relative to the root of the process.  Does no I/O.
 */
bool mounts_have_same_root(const char *mountinfo, const char *other);

/*
 * Opens the root directory of a process, with O_PATH.  If the process has jtool's user and group,
 * but more capabilities, the kernel denies PID/root and permits PID/mountinfo.  If mountinfo then
 * shows that the process has the same root as jtool, opens jtool's own root.  Returns a descriptor
 * or a negative errno.
 */
int mounts_open_root(const struct procfs *proc, pid_t pid) _must_check_;

/* Returns true if the file is in a mount of jtool's namespace, and not in a detached mount. */
bool mounts_have_file(const struct procfs *proc, int fd);

#endif
