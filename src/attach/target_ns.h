/*
 * Lets a child process act in a target's namespaces with the target's ids.
 *
 * The parent's credentials and namespaces never change.  The parent opens the target's root and
 * working directory with its own rights, as O_PATH descriptors.  The child then takes the target's
 * ids; if that is not permitted, the child first enters the target's user namespace.  The child
 * gives up every capability that the target lacks, because root of a container has fewer
 * capabilities than root of the host.
 */
#ifndef JTOOL_ATTACH_TARGET_NS_H
#define JTOOL_ATTACH_TARGET_NS_H

#include <sys/stat.h>

#include "base/err.h"
#include "proc/procfs.h"
#include "discover/jvm.h"

/* The target's directories and state.  The descriptors of directories are O_PATH. */
struct target_ns {
	const struct jvm *jvm;
	struct procfs proc;
	int root_fd; /* the target's root directory */
	int cwd_fd;  /* the target's working directory; -1: inaccessible */
	int pid_fd;  /* pidfd of the target; -1 if the kernel or a seccomp filter permits none */
	/* true: jtool and the target are in one user namespace, so both use the same user ids */
	bool same_userns;
	struct proc_status opened; /* status of the target at target_ns_open() */
};

/*
 * Opens the target's directories and verifies that the process with the target's pid is still the
 * one in `jvm`.  Sets EXIT_PERMISSION if /proc belongs to another pid namespace (procfs_is_own()),
 * because a signal or setns(2) would then reach another process, and EXIT_PARTIAL if the target has
 * ended.  Needs only the right to read /proc/PID/root.  Call it only in a worker or helper,
 * unless mounts_are_local() shows that the target's file systems cannot block (mounts.h).
 */
int target_ns_open(const struct jvm *jvm, struct target_ns *ns, struct err *err) _must_check_;
/*
 * As target_ns_open(), but does not open the directories: leaves root_fd and cwd_fd at -1 and
 * touches no file system of the target.
 */
int target_ns_open_process(const struct jvm *jvm, struct target_ns *ns,
			   struct err *err) _must_check_;
void target_ns_close(struct target_ns *ns);

/*
 * Returns true if this process has the target's ids.  It then needs no child to connect to a
 * checked socket of the target.  It still needs a child to open or create files, unless it has no
 * capabilities: with its capabilities it might open files that the target cannot open.
 */
bool target_ns_is_ours(const struct target_ns *ns);

/*
 * Takes the target's ids and supplementary groups, in the target's user namespace if necessary, and
 * gives up the capabilities that the target lacks.  Takes no groups if the target has more than 64;
 * keeps its own groups if setgroups(2) is not permitted.  Call it only in a child, because nothing
 * can undo it.  The child becomes undumpable: nobody can trace it or open its files under /proc.
 * The child can no longer gain privileges with execve(2).  The target's user can still stop the
 * child, so the parent waits for it with child_wait(), which has a deadline.  Returns 0 or a
 * negative errno.
 */
int target_ns_become(const struct target_ns *ns) _must_check_;

/*
 * Reads the target's current status from /proc.  Returns 0; -ESRCH if the target is exiting or has
 * ended; or another negative errno.
 */
int target_ns_status(const struct target_ns *ns, struct proc_status *status) _must_check_;

/*
 * Returns 0 while the target exists, else -ESRCH.  Cheap, but returns 0 also while the target is
 * exiting and has already closed its connections; target_ns_status() then returns -ESRCH.
 */
int target_ns_alive(const struct target_ns *ns);

/*
 * Sends a signal to the target.  If the target has ended and another process has its pid, sends
 * nothing.  Returns 0 or -errno.
 */
int target_ns_kill(const struct target_ns *ns, int sig) _must_check_;

/*
 * Opens a directory by its absolute path in the target's root; symbolic links do not lead out of
 * that root.  Returns an O_PATH descriptor or -errno.
 */
int target_ns_opendir(const struct target_ns *ns, const char *path) _must_check_;

/*
 * Returns true if the target's user can read the file at this absolute path in the target's root
 * and, if `to_map` is set, map it as code.  Returns false if the file is not the one that `same`
 * describes.
 */
bool target_ns_can_read(const struct target_ns *ns, const char *path, const struct stat *same,
			bool to_map);

/*
 * Removes the file `name` from the directory dir_fd.  Returns 0; -ESTALE if it is not the file that
 * `same` describes, or was modified since; or another negative errno.  Acts with the target's
 * rights, so that it removes nothing that the target could not remove.
 */
int target_ns_unlink(const struct target_ns *ns, int dir_fd, const char *name,
		     const struct stat *same) _must_check_;

/*
 * Calls bind(2) with `name` in the directory dir_fd.  The address is below /proc/self/fd, because
 * the path of the directory may exceed the 108 bytes of sun_path.  Returns 0 or -errno.
 */
int target_ns_bind(int sock, int dir_fd, const char *name) _must_check_;

/*
 * Calls connect(2) to the socket file of an O_PATH descriptor that the caller has checked.  Takes
 * no name, because a name could become a link to a socket outside of the target's root.  Returns 0
 * or -errno.
 */
int target_ns_connect(int sock, int socket_fd) _must_check_;

#endif
