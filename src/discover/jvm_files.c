#include "discover/jvm_files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "fileio/io.h"
#include "base/xalloc.h"
#include "proc/inroot.h"
#include "proc/mounts.h"
#include "proc/container.h"
#include "discover/hsperf.h"
#include "discover/identify.h"

#define TEXT_MAX (1024u * 1024) /* limit in bytes for the small files of a process */

void jvm_files_release(struct jvm_files *files)
{
	free(files->libjvm);
	free(files->perfdata);
	free(files->perfdata_link);
}

/* Returns the last component of a path from PID/maps; these paths are absolute. */
static const char *last_name(const char *path)
{
	return strrchr(path, '/') + 1;
}

/*
 * Returns true for the path …/hsperfdata_USER/NSPID of the JVM's own hsperfdata file.  NSPID must
 * be the JVM's own pid, because a monitoring tool that is a JVM maps the files of other JVMs.  A
 * file that an earlier process with this pid has left is never taken for this JVM's file, because
 * the JVM has not mapped it.
 */
static bool is_perfdata(const char *path, pid_t nspid)
{
	static const char prefix[] = "hsperfdata_";
	const char *file = last_name(path), *dir = file - 1;
	char name[16];

	(void)snprintf(name, sizeof(name), "%d", (int)nspid);
	if (strcmp(file, name) != 0)
		return false;
	while (dir > path && dir[-1] != '/')
		dir--;
	return strncmp(dir, prefix, sizeof(prefix) - 1) == 0;
}

static bool visit_map(const struct proc_map *map, void *arg)
{
	struct jvm_files *files = arg;
	const char *name = last_name(map->path);

	/* Accept a deleted libjvm.so, because an upgrade of the JDK deletes it while JVMs run. */
	if (!files->libjvm && strcmp(name, "libjvm.so") == 0)
		files->libjvm = xstrdup(map->path);
	else if (strncmp(name, "libj9vm", 7) == 0)
		files->is_openj9 = true;
	if (!files->perfdata && is_perfdata(map->path, files->nspid)) {
		files->perfdata = xstrdup(map->path);
		files->perfdata_link = xasprintf("map_files/%s", map->range);
		files->perfdata_deleted = map->deleted;
	}
	return true;
}

int jvm_files_find(const struct procfs *proc, pid_t pid, pid_t nspid, struct jvm_files *files)
{
	struct jvm_files found = { .nspid = nspid };
	int rc = procfs_vm_maps(proc, pid, visit_map, &found);

	*files = found;
	files->is_denied = rc == -EACCES || rc == -EPERM;
	return rc;
}

int jvm_files_refuse(const struct proc_status *status, pid_t pid, int rc, struct err *err)
{
	/* A process that exits has no mappings; -ENOENT: it is not even in /proc any more. */
	if (status->state == 'Z' || status->state == 'X' || rc == -ESRCH || rc == -ENOENT)
		return err_set(err, EXIT_TARGET, "process %d (%s) has exited", (int)pid,
			       status->name);
	if (rc < 0)
		return err_set(err, EXIT_TARGET,
			       "cannot read the mappings of process %d (%s): %s; try again",
			       (int)pid, status->name, strerror(-rc));
	return err_set(err, EXIT_TARGET,
		       "process %d is not a JVM: it is '%s', which maps no libjvm.so", (int)pid,
		       status->name);
}

/*
 * For a JVM whose mappings cannot be read: stores the usual path of the hsperfdata file if the file
 * exists and was changed after the JVM has started.  An older file belongs to an earlier process
 * with this pid.
 */
static void guess_perfdata(struct jvm *jvm, int root_fd)
{
	_cleanup_free_ char *user = jvm_user_name(jvm->uid);
	_cleanup_free_ char *path = xasprintf("/tmp/hsperfdata_%s/%d", user, (int)jvm->nspid);
	_cleanup_close_ int fd = inroot_open(root_fd, path, O_NOFOLLOW);
	struct stat st;

	if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && jvm->uptime >= 0 &&
	    (double)(time(NULL) - st.st_mtim.tv_sec) <= jvm->uptime + 1)
		jvm->perfdata = TAKE_PTR(path);
}

/*
 * Stores the path of the hsperfdata file, if the JVM has mapped one.  A JVM maps the file before it
 * writes to it, so the file may still be empty.
 */
static void find_perfdata(struct jvm *jvm, const char *root, const struct jvm_files *files)
{
	if (!files->perfdata)
		return;
	jvm->perfdata = xstrdup(inroot_path(files->perfdata, root));
	if (files->perfdata_deleted)
		jvm->perfdata_link = xstrdup(files->perfdata_link);
}

static int read_perfdata(const struct procfs *proc, struct jvm *jvm, int root_fd)
{
	_cleanup_close_ int fd = hsperf_open_file(proc, jvm, root_fd);

	return fd < 0 ? fd : hsperf_read_file(fd, &jvm->perf);
}

/*
 * Returns the version from the file `release` in the Java home, or NULL; the caller frees it.  The
 * Java home is two to four directories above the directory of libjvm.so, which is lib/server or
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
		fd = inroot_open_regular(root_fd, path, 0, &st);
		if (fd >= 0 && io_slurp(fd, &text, TEXT_MAX) == 0)
			return identify_release(buf_str(&text));
	}
	return NULL;
}

/*
 * Reads a small file of a process.  On failure, `out` is empty, or incomplete if the file has more
 * than TEXT_MAX bytes; properties that `out` does not show are then unknown.
 */
static void read_text(const struct procfs *proc, pid_t pid, const char *name, struct buf *out)
{
	if (procfs_read(proc, pid, name, out, TEXT_MAX) < 0)
		return;
}

static bool visit_thread(const char *name, void *arg)
{
	return identify_thread(arg, name);
}

static void describe_without_perfdata(const struct procfs *proc, struct jvm *jvm,
				      const struct cmdline *cmd)
{
	_cleanup_buf_ struct buf env = BUF_INIT;
	struct gc_clues clues = { NULL, false };

	read_text(proc, jvm->pid, "environ", &env);
	if (jvm->is_hotspot && procfs_thread_names(proc, jvm->pid, visit_thread, &clues) < 0)
		clues.saw_all = false;
	identify_cmdline(jvm, cmd, env.data, env.len, &clues);
}

/* Fills in the properties that /proc shows without access to the target's file systems. */
static void describe_process(const struct procfs *proc, struct jvm *jvm)
{
	_cleanup_buf_ struct buf cgroup = BUF_INIT;

	read_text(proc, jvm->pid, "cgroup", &cgroup);
	jvm->container = container_id(buf_str(&cgroup));
	jvm->tmp = flags_value(jvm->flags, "-XX:AltTempDir=");
}

void jvm_files_read(const struct procfs *proc, struct jvm *jvm, const struct jvm_files *files)
{
	_cleanup_buf_ struct buf words = BUF_INIT;
	_cleanup_free_ char *root = procfs_readlink(proc, jvm->pid, "root");
	_cleanup_close_ int root_fd = mounts_open_root(proc, jvm->pid);
	struct cmdline cmd;
	int rc;

	read_text(proc, jvm->pid, "cmdline", &words);
	cmdline_parse(words.data, words.len, &cmd);
	find_perfdata(jvm, root, files);
	if (files->is_denied && root_fd >= 0)
		guess_perfdata(jvm, root_fd);
	rc = read_perfdata(proc, jvm, root_fd);
	jvm->starting = rc == -EAGAIN;
	if (rc == 0)
		identify_perfdata(jvm, &jvm->perf, &cmd);
	if (!jvm->version && root_fd >= 0 && files->libjvm)
		jvm->version = read_release(root_fd, inroot_path(files->libjvm, root));
	if (rc != 0)
		describe_without_perfdata(proc, jvm, &cmd);
	cmdline_release(&cmd);
	describe_process(proc, jvm);
}

/*
 * Examines the JVM's tmp directory, hsperfdata file and libjvm.so, in this order.  The text names
 * the first one whose file system depends on a server, or the tmp directory if none does.
 */
char *jvm_files_hung(const struct procfs *proc, const struct jvm *jvm, const char *libjvm)
{
	const char *const paths[] = { jvm_tmp(jvm), jvm->perfdata, libjvm };
	_cleanup_buf_ struct buf mounts = BUF_INIT;
	struct mount m;

	read_text(proc, jvm->pid, "mountinfo", &mounts);
	for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
		char *text = NULL;

		if (!paths[i] || !mount_find(buf_str(&mounts), paths[i], &m))
			continue;
		if (mount_may_hang(m.type))
			text = xasprintf("the file system of its %s %s (%s at %s)",
					 i == 0 ? "directory" : "file", paths[i], m.type, m.point);
		mount_release(&m);
		if (text)
			return text;
	}
	return xasprintf("a file system of it, perhaps that of its directory %s,", jvm_tmp(jvm));
}

void jvm_files_skip(const struct procfs *proc, struct jvm *jvm, const struct jvm_files *files)
{
	_cleanup_buf_ struct buf words = BUF_INIT;
	_cleanup_free_ char *root = procfs_readlink(proc, jvm->pid, "root");
	struct cmdline cmd;

	read_text(proc, jvm->pid, "cmdline", &words);
	cmdline_parse(words.data, words.len, &cmd);
	find_perfdata(jvm, root, files);
	describe_without_perfdata(proc, jvm, &cmd);
	cmdline_release(&cmd);
	describe_process(proc, jvm);
	jvm->hung = jvm_files_hung(proc, jvm,
				   files->libjvm ? inroot_path(files->libjvm, root) : NULL);
	jvm->attach = ATTACH_UNREACHABLE;
}
