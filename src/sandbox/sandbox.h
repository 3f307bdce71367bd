/*
 * Forbids the calling process system calls that its work does not need, to limit the damage of an
 * exploited error in a parser.  Refused calls fail with EPERM.
 */
#ifndef JTOOL_SANDBOX_SANDBOX_H
#define JTOOL_SANDBOX_SANDBOX_H

#include "base/util.h"

enum sandbox_kind {
	/*
	 * A command that parses binary data: no call that executes a program, looks into another
	 * process's memory, mounts, changes namespaces but by setns(2), or loads code or BPF into
	 * the kernel.
	 */
	SANDBOX_CLIENT,
	/*
	 * The analysis of a file of the caller's: in addition, no network, other ids, namespaces,
	 * nodes, or descriptors of other processes.
	 */
	SANDBOX_FILE,
	/*
	 * The staging helper, once it has the target's ids: only calls that create, open, read,
	 * write and remove files, and serve the socket and the pipe that it has.
	 */
	SANDBOX_STAGING,
	/*
	 * A worker that reads and parses files of a target: only calls that open and read files,
	 * and send an answer over a socket that it has.
	 */
	SANDBOX_INSPECT,
};

/* From now on, execve(2) grants this process and its children no privileges. */
void sandbox_no_new_privileges(void);

/*
 * Enters the sandbox for good, together with all processes that are started later; call it while
 * there is one thread.  Also sets no_new_privs.  Returns 0 or a negative errno: the caller may
 * continue on a kernel or an architecture without seccomp filters.
 */
int sandbox_enter(enum sandbox_kind kind) _must_check_;

#endif
