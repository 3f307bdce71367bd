#include "discover/hsperf.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "fileio/file_open.h"
#include "fileio/io.h"
#include "proc/inroot.h"
#include "discover/cmdline.h"
#include "discover/discover.h"

#define PERFDATA_MAX (4u * 1024 * 1024) /* 32 KB by default, see -XX:PerfDataMemorySize */

static int open_by_path(const struct jvm *jvm, int root_fd)
{
	struct stat st;
	_cleanup_close_ int fd = inroot_open_regular(root_fd, jvm->perfdata, O_NOFOLLOW, &st);

	if (fd < 0)
		return TAKE_FD(fd);
	return st.st_uid == jvm->uid ? TAKE_FD(fd) : -EPERM;
}

/*
 * Opens the file by its path if it belongs to the JVM's user.  Tools that clean /tmp, and JVMs of
 * other pid namespaces with the same /tmp, delete files of running JVMs; root can still open the
 * deleted files in map_files.
 */
int hsperf_open_file(const struct procfs *proc, const struct jvm *jvm, int root_fd)
{
	struct fs_ids saved;
	struct stat st;
	_cleanup_close_ int link = -1;
	int fd;

	if (root_fd < 0 || !jvm->perfdata)
		return -ENOENT;
	if (jvm->perfdata_link) {
		link = procfs_openat(proc, jvm->pid, jvm->perfdata_link, O_PATH);
		return link < 0 ? link : file_reopen_regular(link, &st);
	}
	fd = open_by_path(jvm, root_fd);
	/* Root without CAP_DAC_OVERRIDE, or on NFS, which maps root to nobody. */
	if (fd == -EACCES && fs_ids_take(jvm->uid, jvm->gid, &saved)) {
		fd = open_by_path(jvm, root_fd);
		fs_ids_restore(&saved);
	}
	return fd;
}

/* Uses read(2), not mmap(2): the file's owner may truncate it at any time. */
int hsperf_read_file(int fd, struct perfdata *perf)
{
	_cleanup_buf_ struct buf bytes = BUF_INIT;
	int rc;

	if (lseek(fd, 0, SEEK_SET) < 0)
		return -errno;
	rc = io_slurp(fd, &bytes, PERFDATA_MAX);
	return rc < 0 ? rc : perfdata_parse(bytes.data, bytes.len, perf);
}

static int is_starting(const struct jvm *jvm, struct err *err)
{
	return err_set(err, EXIT_ATTACH,
		       "JVM %d is still starting and publishes no counters yet; try again",
		       (int)jvm->pid);
}

/* Reports that the JVM has no counters.  Even the JDK's jcmd PerfCounter.print needs the file. */
static int no_counters(const struct jvm *jvm, const char *why, struct err *err)
{
	if (jvm->no_attach)
		return err_set(err, EXIT_ANSWER,
			       "JVM %d publishes no counters: %s; attaching is disabled, too: "
			       "use jtool info %d", (int)jvm->pid, why, (int)jvm->pid);
	return err_set(err, EXIT_ANSWER,
		       "JVM %d publishes no counters: %s; use jtool jcmd %d GC.heap_info",
		       (int)jvm->pid, why, (int)jvm->pid);
}

/* Reports why the JVM has mapped no file. */
static int no_file(const struct procfs *proc, const struct jvm *jvm, struct err *err)
{
	_cleanup_free_ char *off = flags_value(jvm->flags, "-XX:-UsePerfData");

	if (!jvm->is_hotspot)
		return err_set(err, EXIT_ANSWER,
			       "JVM %d publishes no counters: it is not HotSpot", (int)jvm->pid);
	if (off)
		return no_counters(jvm, "it was started with -XX:-UsePerfData", err);
	if (flags_is_on(jvm->flags, "PerfDisableSharedMem"))
		return no_counters(jvm, "it was started with -XX:+PerfDisableSharedMem", err);
	if (discover_attach_state(proc, jvm) == ATTACH_STARTING)
		return is_starting(jvm, err);
	/* HotSpot names the directory after the user, and needs that name to create it. */
	return no_counters(jvm, "-XX:-UsePerfData is in effect, its user is not in its "
			      "/etc/passwd, or it could not create a file in its /tmp", err);
}

static int cannot_open(const struct hsperf *h, int rc, struct err *err)
{
	const struct jvm *jvm = h->jvm;

	if (!jvm->perfdata)
		return no_file(&h->proc, jvm, err);
	if (jvm->perfdata_link && (rc == -EPERM || rc == -EACCES))
		return err_set(err, EXIT_PERMISSION,
			       "JVM %d: its hsperfdata file was deleted; only root can still read "
			       "it", (int)jvm->pid);
	return err_set(err, rc == -EACCES ? EXIT_PERMISSION : EXIT_ANSWER,
		       "JVM %d: cannot read its hsperfdata file: %s", (int)jvm->pid,
		       rc == -EPERM ? "it belongs to another user" : strerror(-rc));
}

static bool is_alive(const struct hsperf *h)
{
	struct proc_status status;

	return procfs_recheck(&h->proc, h->jvm->pid, h->jvm->start_ticks, &status) == 0;
}

static int open_file(struct hsperf *h, struct err *err)
{
	_cleanup_close_ int root_fd =
		procfs_openat(&h->proc, h->jvm->pid, "root", O_PATH | O_DIRECTORY);

	if (!is_alive(h))
		return jvm_gone(h->jvm, err);
	if (root_fd == -EACCES || root_fd == -EPERM)
		return jvm_denied(h->jvm, err);
	h->fd = hsperf_open_file(&h->proc, h->jvm, root_fd);
	if (h->fd >= 0)
		return 0;
	return is_alive(h) ? cannot_open(h, h->fd, err) : jvm_gone(h->jvm, err);
}

int hsperf_open(struct hsperf *h, const struct jvm *jvm, struct err *err)
{
	int rc;

	*h = (struct hsperf){ .jvm = jvm, .fd = -1 };
	rc = procfs_open(&h->proc, "/proc");
	if (rc < 0)
		return err_set(err, EXIT_PERMISSION,
			       "cannot open /proc: %s; mount it", strerror(-rc));
	if (open_file(h, err) == 0)
		return 0;
	procfs_close(&h->proc);
	return -1;
}

void hsperf_close(struct hsperf *h)
{
	(void)close(h->fd); /* read-only: nothing to flush */
	procfs_close(&h->proc);
}

/* Reads the values before it checks that the JVM is alive, so that they belong to a live JVM. */
int hsperf_read(const struct hsperf *h, struct perfdata *perf, struct err *err)
{
	int rc = hsperf_read_file(h->fd, perf);

	if (!is_alive(h)) {
		if (rc == 0)
			perfdata_release(perf);
		return jvm_gone(h->jvm, err);
	}
	if (rc == 0)
		return 0;
	if (rc == -EAGAIN)
		return is_starting(h->jvm, err);
	return err_set(err, EXIT_ANSWER, "JVM %d: its hsperfdata file is corrupt: %s",
		       (int)h->jvm->pid, strerror(-rc));
}

int hsperf_read_once(const struct jvm *jvm, struct perfdata *perf, struct err *err)
{
	struct hsperf h;
	int rc;

	if (hsperf_open(&h, jvm, err) < 0)
		return -1;
	rc = hsperf_read(&h, perf, err);
	hsperf_close(&h);
	return rc;
}
