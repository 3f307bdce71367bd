#include "target/discover.h"

#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <string.h>
#include <sys/stat.h>

#include "base/io.h"
#include "base/xalloc.h"
#include "proc/inroot.h"
#include "target/container.h"
#include "target/describe.h"

#define TEXT_MAX (1024u * 1024)         /* of any small file of a process */
#define PERFDATA_MAX (4u * 1024 * 1024) /* 32 KB unless -XX:PerfDataMemorySize says more */

/* What the mappings of a process tell; paths are as we see them. */
struct traces {
	char *libjvm;
	char *perfdata; /* the hsperfdata file that this very process has mapped */
	bool is_openj9;
};

static void traces_release(struct traces *t)
{
	free(t->libjvm);
	free(t->perfdata);
}

static const char *last_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/*
 * A JVM maps its hsperfdata file as …/hsperfdata_USER/NSPID.  That it is mapped tells it from a
 * file that an earlier process of the same number has left, and what the user is called there.
 */
static bool is_perfdata(const char *path)
{
	const char *name = last_name(path);
	static const char dir[] = "/hsperfdata_";

	if (name == path || strspn(name, "0123456789") != strlen(name))
		return false;
	for (const char *p = name - 2; p >= path; p--) {
		if (*p == '/')
			return strncmp(p, dir, sizeof(dir) - 1) == 0;
	}
	return false;
}

static bool visit_map(const char *path, bool deleted, void *arg)
{
	struct traces *t = arg;
	const char *name = last_name(path);

	/* An upgrade deletes the libjvm.so of running JVMs. */
	if (!t->libjvm && strcmp(name, "libjvm.so") == 0)
		t->libjvm = xstrdup(path);
	else if (!t->perfdata && !deleted && is_perfdata(path))
		t->perfdata = xstrdup(path);
	else if (strncmp(name, "libj9vm", 7) == 0)
		t->is_openj9 = true;
	return !(t->libjvm && t->perfdata);
}

/*
 * The path below the target's root.  In our mount namespace, a chroot's path shows in front of
 * it; in another one, paths begin at the target's root already.
 */
static const char *below_root(const char *path, const char *root)
{
	size_t len = root ? strlen(root) : 0;

	if (len > 1 && strncmp(path, root, len) == 0 && path[len] == '/')
		return path + len;
	return path;
}

/* A regular file below the target's root; never waits, whatever is found in its place. */
static int open_regular(int root_fd, const char *path, int flags, struct stat *st)
{
	_cleanup_close_ int fd = inroot_open(root_fd, path, O_RDONLY | O_NONBLOCK | flags);

	if (fd < 0)
		return fd;
	if (fstat(fd, st) < 0)
		return -errno;
	return S_ISREG(st->st_mode) ? TAKE_FD(fd) : -EINVAL;
}

/* Only what the target's own user wrote, read(2) and never mapped: it may be cut at any time. */
static int read_perfdata(const struct jvm *jvm, int root_fd, const char *path,
			 struct perfdata *perf)
{
	_cleanup_buf_ struct buf bytes = BUF_INIT;
	struct stat st;
	_cleanup_close_ int fd = open_regular(root_fd, path, O_NOFOLLOW, &st);
	int rc;

	if (fd < 0)
		return fd;
	if (st.st_uid != jvm->uid)
		return -EPERM;
	rc = io_slurp(fd, &bytes, PERFDATA_MAX);
	return rc < 0 ? rc : perfdata_parse(bytes.data, bytes.len, perf);
}

/* What can be read of a small file; when it is nothing or not all, less is told. */
static void read_text(const struct procfs *proc, pid_t pid, const char *name, struct buf *out)
{
	if (procfs_read(proc, pid, name, out, TEXT_MAX) < 0)
		return;
}

/*
 * `release` stands in the Java home; libjvm.so two to four directories below: lib/server,
 * jre/lib/amd64/server.
 */
static char *read_release(int root_fd, const char *libjvm)
{
	_cleanup_free_ char *dir = xstrdup(libjvm);

	for (int up = 0; up < 6; up++) {
		_cleanup_buf_ struct buf text = BUF_INIT;
		_cleanup_free_ char *path = NULL;
		_cleanup_close_ int fd = -1;
		struct stat st;
		char *slash = strrchr(dir, '/');

		if (!slash || slash == dir)
			return NULL;
		*slash = '\0';
		path = xasprintf("%s/release", dir);
		fd = open_regular(root_fd, path, 0, &st);
		if (fd >= 0 && io_slurp(fd, &text, TEXT_MAX) == 0)
			return describe_release(buf_str(&text));
	}
	return NULL;
}

static void describe(const struct procfs *proc, struct jvm *jvm, const struct traces *t)
{
	_cleanup_buf_ struct buf words = BUF_INIT, env = BUF_INIT;
	_cleanup_free_ char *root = procfs_readlink(proc, jvm->pid, "root");
	_cleanup_close_ int root_fd =
		procfs_openat(proc, jvm->pid, "root", O_PATH | O_DIRECTORY);
	struct cmdline cmd;
	struct perfdata perf;

	read_text(proc, jvm->pid, "cmdline", &words);
	cmdline_parse(words.data, words.len, &cmd);
	if (root_fd >= 0 && t->perfdata &&
	    read_perfdata(jvm, root_fd, below_root(t->perfdata, root), &perf) == 0) {
		describe_perfdata(jvm, &perf, &cmd);
		perfdata_release(&perf);
	} else {
		read_text(proc, jvm->pid, "environ", &env);
		describe_cmdline(jvm, &cmd, env.data, env.len);
	}
	if (!jvm->version && root_fd >= 0 && t->libjvm)
		jvm->version = read_release(root_fd, below_root(t->libjvm, root));
	cmdline_release(&cmd);
	jvm->tmp = flags_value(jvm->flags, "-XX:AltTempDir=");
}

static char *user_name(uid_t uid)
{
	const char *name = user_from_uid(uid, 1);

	return name ? xstrdup(name) : xasprintf("%u", (unsigned)uid);
}

static char *read_container(const struct procfs *proc, pid_t pid)
{
	_cleanup_buf_ struct buf text = BUF_INIT;

	read_text(proc, pid, "cgroup", &text);
	return container_id(buf_str(&text));
}

static struct jvm *new_jvm(const struct procfs *proc, pid_t pid, const struct proc_status *status,
			   const struct traces *t)
{
	struct jvm *jvm = xcalloc(1, sizeof(*jvm));

	jvm->pid = pid;
	jvm->nspid = status->nspid;
	jvm->uid = status->euid;
	jvm->gid = status->egid;
	jvm->start_ticks = status->start_ticks;
	jvm->uptime = procfs_uptime(proc, status);
	jvm->heap_used = jvm->heap_max = -1;
	jvm->is_hotspot = !t->is_openj9;
	jvm->listed_ns = io_now_ns();
	jvm->user = user_name(jvm->uid);
	jvm->container = read_container(proc, pid);
	describe(proc, jvm, t);
	jvm->attach = ATTACH_STARTING;
	jvm->attach = discover_attach_state(proc, jvm);
	return jvm;
}

/* A process whose mappings are not ours to see may still call itself what the launcher does. */
static bool is_called_java(const struct procfs *proc, pid_t pid)
{
	_cleanup_buf_ struct buf name = BUF_INIT;

	read_text(proc, pid, "comm", &name);
	return strcmp(buf_str(&name), "java\n") == 0;
}

/* The JVM of a process, or NULL when it is none or is gone. */
static struct jvm *look_at(const struct procfs *proc, pid_t pid)
{
	_cleanup_(traces_release) struct traces traces = { 0 };
	struct proc_status status;
	unsigned threads;
	int rc;

	/*
	 * Reading maps is most of the cost of a list: 50 µs a process.  A VM has its own threads
	 * from its first milliseconds on, so a process with one thread is none.
	 */
	if (procfs_threads(proc, pid, &threads) < 0 || threads == 1)
		return NULL;
	rc = procfs_maps(proc, pid, visit_map, &traces);
	if (rc == -EACCES || rc == -EPERM) {
		if (!is_called_java(proc, pid))
			return NULL;
	} else if (rc < 0 || !traces.libjvm) {
		return NULL;
	}
	if (procfs_status(proc, pid, &status) < 0)
		return NULL;
	return new_jvm(proc, pid, &status, &traces);
}

int discover_all(const struct procfs *proc, struct jvm_list *list, struct err *err)
{
	_cleanup_free_ pid_t *pids = NULL;
	size_t n = 0, cap = 0;
	struct jvm_list found = { NULL, 0 };
	int rc = procfs_pids(proc, &pids, &n);

	if (rc < 0)
		return err_set(err, EXIT_PERMISSION, "%s cannot be read: %s", proc->root,
			       strerror(-rc));
	for (size_t i = 0; i < n; i++) {
		struct jvm *jvm = look_at(proc, pids[i]);

		if (!jvm)
			continue;
		found.jvms = xgrow(found.jvms, found.n, &cap, sizeof(struct jvm *));
		found.jvms[found.n++] = jvm;
	}
	*list = found;
	return 0;
}

static int refuse(const struct proc_status *status, pid_t pid, struct err *err)
{
	if (status->state == 'Z' || status->state == 'X')
		return err_set(err, EXIT_TARGET, "process %d (%s) has ended already", (int)pid,
			       status->name);
	return err_set(err, EXIT_TARGET,
		       "process %d is not a JVM: it is '%s', which maps no libjvm.so", (int)pid,
		       status->name);
}

struct jvm *discover_pid(const struct procfs *proc, pid_t pid, struct err *err)
{
	_cleanup_(traces_release) struct traces traces = { 0 };
	_cleanup_free_ char *user = NULL;
	struct proc_status status;
	int rc = procfs_status(proc, pid, &status);

	if (rc < 0) {
		(void)err_set(err, EXIT_TARGET, "no such process: %d", (int)pid);
		return NULL;
	}
	if (status.tgid != pid) {
		(void)err_set(err, EXIT_TARGET, "%d is a thread of process %d: name the process",
			      (int)pid, (int)status.tgid);
		return NULL;
	}
	rc = procfs_maps(proc, pid, visit_map, &traces);
	if (rc == -EACCES || rc == -EPERM) {
		user = user_name(status.euid);
		(void)err_set(err, EXIT_PERMISSION,
			      "process %d (%s) is user %s's and cannot be looked into: run jtool "
			      "as that user or as root", (int)pid, status.name, user);
		return NULL;
	}
	if (rc < 0 || !traces.libjvm) {
		(void)refuse(&status, pid, err);
		return NULL;
	}
	return new_jvm(proc, pid, &status, &traces);
}

void jvm_list_release(struct jvm_list *list)
{
	for (size_t i = 0; i < list->n; i++)
		jvm_free(list->jvms[i]);
	free(list->jvms);
	*list = (struct jvm_list){ NULL, 0 };
}
