#include "discover/process_info.h"

#include <string.h>
#include <time.h>

#include "base/xalloc.h"
#include "discover/cmdline.h"
#include "discover/discover.h"
#include "discover/jvm_files.h"
#include "proc/inroot.h"

#define ENVIRON_MAX (1024u * 1024)

const char *const process_info_options_names[N_PROCESS_OPTIONS] = {
	[PROCESS_TOOL_OPTIONS] = "JAVA_TOOL_OPTIONS",
	[PROCESS_JDK_OPTIONS] = "JDK_JAVA_OPTIONS",
	[PROCESS_OLD_OPTIONS] = "_JAVA_OPTIONS",
};

static char *read_link(const struct procfs *proc, pid_t pid, const char *name, const char *root)
{
	_cleanup_free_ char *path = procfs_readlink(proc, pid, name);

	return path ? xstrdup(inroot_path(path, root)) : NULL;
}

static char *parent_name(const struct procfs *proc, pid_t parent)
{
	struct proc_status status;

	if (parent == 0 || procfs_status(proc, parent, &status) < 0)
		return NULL;
	return xstrdup(status.name);
}

/*
 * Returns the java.home of a libjvm.so, which is in lib/server, or in JDK 8 in jre/lib/ARCH/server.
 * The path may have another component "lib" before, as in /usr/lib/jvm, so the last one is used.
 */
static char *home_of(const char *libjvm)
{
	_cleanup_free_ char *path = xstrdup(libjvm);
	char *lib = NULL;

	for (char *at = path; (at = strstr(at, "/lib/")) != NULL; at++)
		lib = at;
	if (!lib || lib == path)
		return NULL;
	*lib = '\0';
	return TAKE_PTR(path);
}

static char *read_home(const struct procfs *proc, const struct jvm *jvm, const char *root)
{
	_cleanup_(jvm_files_release) struct jvm_files files = { 0 };

	if (jvm_files_find(proc, jvm->pid, jvm->nspid, &files) < 0 || !files.libjvm)
		return NULL;
	return home_of(inroot_path(files.libjvm, root));
}

static void read_options(const struct procfs *proc, pid_t pid, struct process_info *info)
{
	_cleanup_buf_ struct buf env = BUF_INIT;

	if (procfs_read(proc, pid, "environ", &env, ENVIRON_MAX) < 0)
		return;
	for (size_t i = 0; i < N_PROCESS_OPTIONS; i++)
		info->options[i] = environ_value(env.data, env.len, process_info_options_names[i]);
}

static double start_time(const struct procfs *proc, const struct proc_status *status)
{
	double uptime = procfs_uptime(proc, status);
	struct timespec now;

	if (uptime < 0 || clock_gettime(CLOCK_REALTIME, &now) < 0)
		return -1;
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9 - uptime;
}

int process_info_read(const struct procfs *proc, const struct jvm *jvm, struct process_info *info,
		      struct err *err)
{
	_cleanup_free_ char *root = procfs_readlink(proc, jvm->pid, "root");

	*info = (struct process_info){ .agents = AGENTS_INIT };
	info->attach = discover_attach_state(proc, jvm);
	info->exe = read_link(proc, jvm->pid, "exe", root);
	info->cwd = read_link(proc, jvm->pid, "cwd", root);
	info->home = read_home(proc, jvm, root);
	read_options(proc, jvm->pid, info);
	cgroup_read(proc, jvm->pid, &info->cgroup);
	agents_from_flags(&info->agents, jvm->flags);
	agents_from_maps(&info->agents, proc, jvm);
	if (procfs_usage(proc, jvm->pid, &info->usage) == 0 &&
	    procfs_recheck(proc, jvm->pid, jvm->start_ticks, &info->status) == 0) {
		info->parent = parent_name(proc, info->usage.parent);
		info->started = start_time(proc, &info->status);
		return 0;
	}
	process_info_release(info);
	return jvm_gone(jvm, err);
}

void process_info_release(struct process_info *info)
{
	free(info->parent);
	free(info->exe);
	free(info->cwd);
	free(info->home);
	for (size_t i = 0; i < N_PROCESS_OPTIONS; i++)
		free(info->options[i]);
	agents_release(&info->agents);
}

bool process_info_is_stopped(const struct process_info *info)
{
	return info->status.state == 'T' || info->status.state == 't';
}

char *process_info_attach_text(const struct process_info *info, const struct jvm *jvm)
{
	struct err err = { .code = EXIT_DONE };

	if (info->attach == ATTACH_DENIED) {
		(void)jvm_denied(jvm, &err);
		return xstrdup(err.text);
	}
	if (info->attach == ATTACH_UNSUPPORTED)
		return xstrdup("it is not HotSpot and has an attach mechanism of its own");
	if (info->attach == ATTACH_UNREACHABLE)
		return xasprintf("%s does not answer; restart the server of that file system, or "
				 "unmount it",
				 jvm->hung ? jvm->hung : "the file system of its socket");
	if (process_info_is_stopped(info))
		return xstrdup("not while it is stopped");
	if (info->attach == ATTACH_LISTENING)
		return xstrdup("its socket is open");
	if (info->attach == ATTACH_READY)
		return xstrdup("it would open its socket on request");
	if (info->attach == ATTACH_READ_ONLY)
		return xasprintf("its directory %s is mounted read-only, so it cannot create its "
				 "socket; mount a tmpfs there", jvm_tmp(jvm));
	if (info->attach == ATTACH_STARTING)
		return xstrdup("it does not catch SIGQUIT yet; try again");
	if (jvm->no_attach)
		return xstrdup("it was started with -XX:+DisableAttachMechanism; restart it "
			       "without that option");
	return xstrdup("it was started with -Xrs and its socket file is gone; only a restart "
		       "brings it back");
}
