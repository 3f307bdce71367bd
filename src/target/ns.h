/*
 * Acting inside a target's namespaces with the target's ids, from a child process.
 *
 * The parent's credentials and namespaces never change.  What must be opened while we still
 * have our own rights (the target's root, cwd) is opened first, as O_PATH directories; then the
 * child becomes the target's user: its group and user id, after entering its user namespace
 * when we are not root but own that namespace.
 */
#ifndef JTOOL_TARGET_NS_H
#define JTOOL_TARGET_NS_H

#include <sys/stat.h>

#include "base/err.h"
#include "proc/procfs.h"
#include "target/jvm.h"

/* What the child works with.  Descriptors are O_PATH | O_CLOEXEC. */
struct ns {
	const struct jvm *jvm;
	struct procfs proc;
	int root_fd; /* the target's / */
	int cwd_fd;  /* its working directory; -1 when it cannot be entered */
	int pid_fd;  /* pidfd of the target; -1 where the kernel has none */
	bool same_userns; /* ids mean the same to it as to us */
	struct proc_status opened; /* as it was when it was opened */
};

/*
 * Open the target's directories and check that it still is the process that was found.
 * Works with no further rights than reading /proc/PID/root takes.
 */
int ns_open(const struct jvm *jvm, struct ns *ns, struct err *err) _must_check_;
void ns_close(struct ns *ns);

/* True when we already are what ns_become() would make us: no child is needed. */
bool ns_is_ours(const struct ns *ns);

/* In a child: take the target's user and group ids (and its user namespace).  0 or -errno. */
int ns_become(const struct ns *ns) _must_check_;

/* What /proc says about it now.  0, or -ESRCH when that process is ending or gone. */
int ns_status(const struct ns *ns, struct proc_status *status) _must_check_;

/*
 * 0 while the same process is alive, -ESRCH when it is gone.  Cheap, but a process that is ending
 * closes its connections before it counts as gone here; ns_status() tells that, too.
 */
int ns_alive(const struct ns *ns);

/* Send a signal to the very process that was found, never to a later one.  0 or -errno. */
int ns_kill(const struct ns *ns, int sig) _must_check_;

/*
 * Open a directory by its absolute path as the target sees it: links on the way are followed
 * within its root.  An O_PATH descriptor or -errno.
 */
int ns_opendir(const struct ns *ns, const char *path) _must_check_;

/*
 * Does the target see the file `same` under this absolute path, and may its user read it (and,
 * for `to_map`, map it executable there)?
 */
bool ns_can_read(const struct ns *ns, const char *path, const struct stat *same, bool to_map);

/*
 * bind(2) or connect(2) to NAME in the directory dir_fd, however long its path is: sun_path has
 * 108 bytes, so it goes through /proc/self/fd.  0 or -errno.
 */
int ns_bind(int sock, int dir_fd, const char *name) _must_check_;
int ns_connect(int sock, int dir_fd, const char *name) _must_check_;

#endif
