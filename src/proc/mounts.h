/* Mounts of a process.  The kernel shows them without asking the file systems. */
#ifndef JTOOL_PROC_MOUNTS_H
#define JTOOL_PROC_MOUNTS_H

#include <stdbool.h>

#include "proc/procfs.h"

struct mount {
	char *point; /* absolute, in the root of the process */
	char *type;  /* "ext4", "fuse.sshfs", "nfs4", … */
};

void mount_release(struct mount *m);

/*
 * Finds the mount of an absolute path in the text of PID/mountinfo; links in the path are not
 * resolved.  Returns false if there is none.  Pure.
 */
bool mount_find(const char *mountinfo, const char *path, struct mount *m) _must_check_;

/* Returns true for types whose server, another process or machine, may stop answering. */
bool mount_may_hang(const char *type);

/*
 * Appends self/mountinfo to `out`.  Of the real /proc, it may be half a second old: reading it
 * takes as long as all else that a short command reads.  Returns 0 or a negative errno.
 */
int mounts_read_own(const struct procfs *proc, struct buf *out) _must_check_;

/*
 * Returns true if every mount in the text of PID/mountinfo is of a type that needs no server.  An
 * overlay counts as needing none: its layers are not examined.  Pure.
 */
bool mounts_need_no_server(const char *mountinfo);

/*
 * Returns true if reading the files of a process cannot block forever: it is in our own mount
 * namespace, in which every mount is of a type that needs no server.  Then this process may read
 * them itself, which takes a tenth of a worker's time.  In a container, a process may mount any
 * file system; in our namespace, only users with the administrator's permission can.
 */
bool mounts_are_local(const struct procfs *proc, pid_t pid);
/* The two halves of that: the mounts of the namespace, and whether we see all of them. */
bool mounts_of_ns_are_local(const struct procfs *proc, pid_t pid);
bool mounts_are_below_our_root(const struct procfs *proc, pid_t pid);

/*
 * Returns true if two processes with these texts of PID/mountinfo have the same root directory.  A
 * mount has one number in all namespaces, and its point is relative to the root of the process.
 * Pure.
 */
bool mounts_have_same_root(const char *mountinfo, const char *other);

/*
 * Opens the root directory of a process, with O_PATH.  The kernel denies PID/root of a process with
 * our user and group that has capabilities which we lack, but not PID/mountinfo; if that shows that
 * its root is ours, ours is opened.  Returns a descriptor or a negative errno.
 */
int mounts_open_root(const struct procfs *proc, pid_t pid) _must_check_;

/* Returns true if the file is in a mount of our namespace, and not in one that was detached. */
bool mounts_have_file(const struct procfs *proc, int fd);

#endif
