/*
 * Acts in a target's namespaces with the target's ids, from a child process.
 *
 * The parent's credentials and namespaces never change.  The parent opens the target's root and
 * working directory with its own rights, as O_PATH directories.  The child then takes the target's
 * ids; if that is not permitted, it first enters the target's user namespace.  It gives up every
 * capability that the target lacks: root of a container has fewer than root of the host.
 */
#ifndef JTOOL_ATTACH_TARGET_NS_H
#define JTOOL_ATTACH_TARGET_NS_H

#include <sys/stat.h>

#include "base/err.h"
#include "proc/procfs.h"
#include "discover/jvm.h"

/* The target's directories and state.  Descriptors are O_PATH | O_CLOEXEC. */
struct target_ns {
	const struct jvm *jvm;
	struct procfs proc;
	int root_fd; /* the target's / */
	int cwd_fd;  /* the target's working directory; -1: inaccessible */
	int pid_fd;  /* pidfd of the target; -1 if the kernel has no pidfds */
	bool same_userns; /* the target is in our user namespace: ids are equal */
	struct proc_status opened; /* status of the target at target_ns_open() */
};

/*
 * Opens the target's directories and verifies that the target is still the same process.  Needs
 * only the right to read /proc/PID/root.  Only in a worker or helper: the target's file systems may
 * not answer.
 */
int target_ns_open(const struct jvm *jvm, struct target_ns *ns, struct err *err) _must_check_;
/* The same without the directories (-1), so that no file system of the target is touched. */
int target_ns_open_process(const struct jvm *jvm, struct target_ns *ns,
			   struct err *err) _must_check_;
void target_ns_close(struct target_ns *ns);

/*
 * Returns true if the caller already has the target's ids.  It may have more capabilities, with
 * which it connects to a checked socket, but opens and creates no files: that takes a child.
 */
bool target_ns_is_ours(const struct target_ns *ns);

/*
 * Takes the target's ids, in its user namespace if necessary, and its capabilities as far as we
 * have them.  In a child only, which becomes undumpable: nobody can trace it or open its files
 * under /proc.  It cannot gain privileges with execve(2) either.  The target's user can still stop
 * it, so wait for it with child_wait().  Returns 0 or a negative errno.
 */
int target_ns_become(const struct target_ns *ns) _must_check_;

/* Reads the target's current status from /proc.  Returns -ESRCH if it is exiting or gone. */
int target_ns_status(const struct target_ns *ns, struct proc_status *status) _must_check_;

/*
 * Returns 0 while the same process is alive, else -ESRCH.  Cheap, but an exiting process may have
 * closed its connections and still count as alive; target_ns_status() detects it.
 */
int target_ns_alive(const struct target_ns *ns);

/* Sends a signal to the target, never to a later process with its pid.  Returns 0 or -errno. */
int target_ns_kill(const struct target_ns *ns, int sig) _must_check_;

/*
 * Opens a directory by the absolute path that the target uses; symbolic links stay within its root.
 * Returns an O_PATH descriptor or -errno.
 */
int target_ns_opendir(const struct target_ns *ns, const char *path) _must_check_;

/*
 * Returns true if the target sees the file `same` at this absolute path, and the target's user can
 * read it and, for `to_map`, map it as code.
 */
bool target_ns_can_read(const struct target_ns *ns, const char *path, const struct stat *same,
			bool to_map);

/*
 * Calls bind(2) with NAME in the directory dir_fd, through /proc/self/fd: the path of the directory
 * may exceed the 108 bytes of sun_path.  Returns 0 or -errno.
 */
int target_ns_bind(int sock, int dir_fd, const char *name) _must_check_;

/*
 * Calls connect(2) with the socket of an O_PATH descriptor that the caller has checked: a name
 * could have become a link to a socket outside of the target's root.  Returns 0 or -errno.
 */
int target_ns_connect(int sock, int socket_fd) _must_check_;

#endif
