/*
 * Forbids the calling process the system calls that it does not need for its work.  This limits the
 * damage if somebody exploits an error in a parser.  A forbidden call fails with EPERM.
 */
#ifndef JTOOL_SANDBOX_SANDBOX_H
#define JTOOL_SANDBOX_SANDBOX_H

#include "base/util.h"

enum sandbox_kind {
	/*
	 * For a command that parses binary data.  Forbids calls that execute a program, access
	 * another process's memory, mount, change namespaces except by setns(2), or load code or
	 * BPF into the kernel.
	 */
	SANDBOX_CLIENT,
	/*
	 * For the analysis of a file that the caller names.  Forbids calls that use the network,
	 * change ids or namespaces, create device nodes, or signal a process through a pidfd.
	 * Enter it in addition to SANDBOX_CLIENT, whose list it does not repeat.
	 */
	SANDBOX_FILE,
	/*
	 * For the staging helper after it has taken the target's ids.  Permits only calls that
	 * create, open, read, write and remove files, and that serve the helper's socket and pipe.
	 */
	SANDBOX_STAGING,
	/*
	 * For a worker that reads and parses files of a target.  Permits only calls that open and
	 * read files, and that send an answer over the worker's socket.
	 */
	SANDBOX_INSPECT,
};

/* After this call, execve(2) gives no privileges to this process and its future children. */
void sandbox_no_new_privileges(void);

/*
 * Enters the sandbox for good.  The sandbox applies to the calling thread and to processes and
 * threads that it starts later, but not to threads that are running already: call it while the
 * process has one thread.  Sets no_new_privs as well.  Returns 0 or a negative errno.  The caller
 * may continue after an error, because the kernel or the architecture may have no seccomp filters.
 */
int sandbox_enter(enum sandbox_kind kind) _must_check_;

#endif
