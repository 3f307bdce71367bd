/* Properties of a JVM's process that the kernel reports.  jtool sends nothing to the process. */
#ifndef JTOOL_DISCOVER_PROCESS_INFO_H
#define JTOOL_DISCOVER_PROCESS_INFO_H

#include "discover/agents.h"
#include "discover/cgroup.h"
#include "discover/jvm.h"

/* Environment variables from which the launcher and the VM take options. */
enum { PROCESS_TOOL_OPTIONS, PROCESS_JDK_OPTIONS, PROCESS_OLD_OPTIONS, N_PROCESS_OPTIONS };
extern const char *const process_info_options_names[N_PROCESS_OPTIONS];

struct process_info {
	struct proc_status status;
	struct proc_usage usage;
	double started; /* seconds since 1970; -1 unknown */
	/* name of the parent process; this text and the following texts are NULL if unknown */
	char *parent;
	char *exe, *cwd; /* program and working directory, as paths in the JVM's root */
	char *home;     /* Java home, derived from the path of libjvm.so */
	/* values of the environment variables; NULL if unset or unknown */
	char *options[N_PROCESS_OPTIONS];
	enum attach_state attach;
	struct cgroup cgroup;
	struct agents agents; /* first the agents that flags name, then the mapped agents */
};

/*
 * Reads the properties.  Returns 0; or -1 with `err` set (EXIT_PARTIAL) if the JVM has exited.
 * Release `info` only after success.
 */
int process_info_read(const struct procfs *proc, const struct jvm *jvm, struct process_info *info,
		      struct err *err) _must_check_;
void process_info_release(struct process_info *info);

/*
 * Returns a text that says whether attaching would work, and if not, what to do.  The caller frees
 * it.
 */
char *process_info_attach_text(const struct process_info *info, const struct jvm *jvm);

/* Returns true if the process is stopped by a signal or a debugger. */
bool process_info_is_stopped(const struct process_info *info);

#endif
