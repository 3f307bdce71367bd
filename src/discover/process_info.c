#include "target/vitals.h"

#include <string.h>
#include <time.h>

#include "base/xalloc.h"
#include "proc/inroot.h"
#include "target/cmdline.h"
#include "target/discover.h"
#include "target/inspect.h"

#define ENVIRON_MAX (1024u * 1024)

const char *const vitals_options_names[N_VITALS_OPTIONS] = {
	[VITALS_TOOL_OPTIONS] = "JAVA_TOOL_OPTIONS",
	[VITALS_JDK_OPTIONS] = "JDK_JAVA_OPTIONS",
	[VITALS_OLD_OPTIONS] = "_JAVA_OPTIONS",
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
 * libjvm.so lies in lib/server, or lib/ARCH/server up to 8, of what java.home says, which up to
 * 8 is the JRE.  Where there is another "lib" above, as in /usr/lib/jvm, the last one counts.
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
	_cleanup_(traces_release) struct traces traces = { 0 };

	if (traces_find(proc, jvm->pid, jvm->nspid, &traces) < 0 || !traces.libjvm)
		return NULL;
	return home_of(inroot_path(traces.libjvm, root));
}

static void read_options(const struct procfs *proc, pid_t pid, struct vitals *v)
{
	_cleanup_buf_ struct buf env = BUF_INIT;

	if (procfs_read(proc, pid, "environ", &env, ENVIRON_MAX) < 0)
		return;
	for (size_t i = 0; i < N_VITALS_OPTIONS; i++)
		v->options[i] = environ_value(env.data, env.len, vitals_options_names[i]);
}

static double start_time(const struct procfs *proc, const struct proc_status *status)
{
	double uptime = procfs_uptime(proc, status);
	struct timespec now;

	if (uptime < 0 || clock_gettime(CLOCK_REALTIME, &now) < 0)
		return -1;
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9 - uptime;
}

int vitals_read(const struct procfs *proc, const struct jvm *jvm, struct vitals *v,
		struct err *err)
{
	_cleanup_free_ char *root = procfs_readlink(proc, jvm->pid, "root");

	*v = (struct vitals){ .agents = AGENTS_INIT };
	v->attach = discover_attach_state(proc, jvm);
	v->exe = read_link(proc, jvm->pid, "exe", root);
	v->cwd = read_link(proc, jvm->pid, "cwd", root);
	v->home = read_home(proc, jvm, root);
	read_options(proc, jvm->pid, v);
	cgroup_read(proc, jvm->pid, &v->cgroup);
	agents_of_flags(&v->agents, jvm->flags);
	agents_of_maps(&v->agents, proc, jvm);
	if (procfs_usage(proc, jvm->pid, &v->usage) == 0 &&
	    procfs_same(proc, jvm->pid, jvm->start_ticks, &v->status) == 0) {
		v->parent = parent_name(proc, v->usage.parent);
		v->started = start_time(proc, &v->status);
		return 0;
	}
	vitals_release(v);
	return jvm_gone(jvm, err);
}

void vitals_release(struct vitals *v)
{
	free(v->parent);
	free(v->exe);
	free(v->cwd);
	free(v->home);
	for (size_t i = 0; i < N_VITALS_OPTIONS; i++)
		free(v->options[i]);
	agents_release(&v->agents);
}

bool vitals_is_stopped(const struct vitals *v)
{
	return v->status.state == 'T' || v->status.state == 't';
}

char *vitals_attach_words(const struct vitals *v, const struct jvm *jvm)
{
	struct err err = { .code = EXIT_DONE };

	if (v->attach == ATTACH_DENIED) {
		(void)jvm_denied(jvm, &err);
		return xstrdup(err.text);
	}
	if (v->attach == ATTACH_UNSUPPORTED)
		return xstrdup("it is no HotSpot, and has an attach mechanism of its own");
	if (vitals_is_stopped(v))
		return xstrdup("not while it is stopped");
	if (v->attach == ATTACH_LISTENING)
		return xstrdup("its socket is open");
	if (v->attach == ATTACH_READY)
		return xstrdup("it would open its socket when it is asked to");
	if (v->attach == ATTACH_STARTING)
		return xstrdup("it does not catch SIGQUIT so far; try again");
	if (jvm->no_attach)
		return xstrdup("it was started with -XX:+DisableAttachMechanism, and only a "
			       "restart without it helps");
	return xstrdup("it was started with -Xrs and its socket file is gone; only a restart "
		       "brings it back");
}
