#include "target/inspect.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/io.h"
#include "base/xalloc.h"
#include "proc/inroot.h"
#include "target/container.h"
#include "target/counters.h"
#include "target/describe.h"

#define TEXT_MAX (1024u * 1024) /* of any small file of a process */

void traces_release(struct traces *t)
{
	free(t->libjvm);
	free(t->perfdata);
	free(t->perfdata_link);
}

/* Paths of maps are absolute. */
static const char *last_name(const char *path)
{
	return strrchr(path, '/') + 1;
}

/*
 * A JVM maps its hsperfdata file as …/hsperfdata_USER/NSPID.  That it is mapped tells it from a
 * file that an earlier process of the same number has left, and what the user is called there.
 * Monitoring tools, which are JVMs, too, map those of others.
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
	struct traces *t = arg;
	const char *name = last_name(map->path);

	/* An upgrade deletes the libjvm.so of running JVMs. */
	if (!t->libjvm && strcmp(name, "libjvm.so") == 0)
		t->libjvm = xstrdup(map->path);
	else if (strncmp(name, "libj9vm", 7) == 0)
		t->is_openj9 = true;
	if (!t->perfdata && is_perfdata(map->path, t->nspid)) {
		t->perfdata = xstrdup(map->path);
		t->perfdata_link = xasprintf("map_files/%s", map->range);
		t->perfdata_deleted = map->deleted;
	}
	return !(t->libjvm && t->perfdata);
}

int traces_find(const struct procfs *proc, pid_t pid, pid_t nspid, struct traces *t)
{
	struct traces found = { .nspid = nspid };
	int rc = procfs_maps(proc, pid, visit_map, &found);

	*t = found;
	return rc;
}

/* Where its hsperfdata file is; its mappings have it only once the JVM has begun to fill it. */
static void find_perfdata(struct jvm *jvm, const char *root, const struct traces *t)
{
	if (!t->perfdata)
		return;
	jvm->perfdata = xstrdup(inroot_path(t->perfdata, root));
	if (t->perfdata_deleted)
		jvm->perfdata_link = xstrdup(t->perfdata_link);
}

static int read_perfdata(const struct procfs *proc, const struct jvm *jvm, int root_fd,
			 struct perfdata *perf)
{
	_cleanup_close_ int fd = counters_open_file(proc, jvm, root_fd);

	return fd < 0 ? fd : counters_read_file(fd, perf);
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
		fd = inroot_open_regular(root_fd, path, 0, &st);
		if (fd >= 0 && io_slurp(fd, &text, TEXT_MAX) == 0)
			return describe_release(buf_str(&text));
	}
	return NULL;
}

/* What can be read of a small file; when it is nothing or not all, less is told. */
static void read_text(const struct procfs *proc, pid_t pid, const char *name, struct buf *out)
{
	if (procfs_read(proc, pid, name, out, TEXT_MAX) < 0)
		return;
}

static bool visit_thread(const char *name, void *arg)
{
	return describe_thread(arg, name);
}

static void describe_without_perfdata(const struct procfs *proc, struct jvm *jvm,
				      const struct cmdline *cmd)
{
	_cleanup_buf_ struct buf env = BUF_INIT;
	struct gc_clues clues = { NULL, false };

	read_text(proc, jvm->pid, "environ", &env);
	if (jvm->is_hotspot && procfs_thread_names(proc, jvm->pid, visit_thread, &clues) < 0)
		clues.is_whole = false;
	describe_cmdline(jvm, cmd, env.data, env.len, &clues);
}

void inspect_jvm(const struct procfs *proc, struct jvm *jvm, const struct traces *t)
{
	_cleanup_buf_ struct buf words = BUF_INIT, cgroup = BUF_INIT;
	_cleanup_free_ char *root = procfs_readlink(proc, jvm->pid, "root");
	_cleanup_close_ int root_fd =
		procfs_openat(proc, jvm->pid, "root", O_PATH | O_DIRECTORY);
	struct cmdline cmd;
	struct perfdata perf;
	int rc;

	read_text(proc, jvm->pid, "cmdline", &words);
	cmdline_parse(words.data, words.len, &cmd);
	find_perfdata(jvm, root, t);
	rc = read_perfdata(proc, jvm, root_fd, &perf);
	jvm->starting = rc == -EAGAIN;
	if (rc == 0) {
		describe_perfdata(jvm, &perf, &cmd);
		perfdata_release(&perf);
	} else {
		describe_without_perfdata(proc, jvm, &cmd);
	}
	if (!jvm->version && root_fd >= 0 && t->libjvm)
		jvm->version = read_release(root_fd, inroot_path(t->libjvm, root));
	cmdline_release(&cmd);
	read_text(proc, jvm->pid, "cgroup", &cgroup);
	jvm->container = container_id(buf_str(&cgroup));
	jvm->tmp = flags_value(jvm->flags, "-XX:AltTempDir=");
}
