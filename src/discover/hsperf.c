#include "discover/hsperf.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/xalloc.h"
#include "fileio/file_open.h"
#include "fileio/io.h"
#include "proc/inroot.h"
#include "proc/mounts.h"
#include "discover/cmdline.h"
#include "discover/discover.h"
#include "discover/jvm_files.h"

#define PERFDATA_USUAL 32768 /* -XX:PerfDataMemorySize, unless the user sets it */

static int open_by_path(const struct jvm *jvm, int root_fd)
{
	struct stat st;
	_cleanup_close_ int fd = inroot_open_regular(root_fd, jvm->perfdata, O_NOFOLLOW, &st);

	if (fd < 0)
		return TAKE_FD(fd);
	return st.st_uid == jvm->uid ? TAKE_FD(fd) : -EPERM;
}

static int open_link(const struct procfs *proc, pid_t pid, const char *name)
{
	_cleanup_close_ int link = procfs_openat(proc, pid, name, O_PATH);
	struct stat st;

	return link < 0 ? link : file_reopen_regular(link, &st);
}

/* Opens an hsperfdata file that was deleted but that the JVM still maps. */
static int open_deleted(const struct procfs *proc, const struct jvm *jvm)
{
	_cleanup_(jvm_files_release) struct jvm_files files = { 0 };

	if (jvm_files_find(proc, jvm->pid, jvm->nspid, &files) < 0 || !files.perfdata ||
	    !files.perfdata_deleted)
		return -ENOENT;
	return open_link(proc, jvm->pid, files.perfdata_link);
}

/*
 * Opens the hsperfdata file by its path, if the JVM's user owns the file.  If the file was deleted,
 * opens it through PID/map_files, which only root can do.  The file of a running JVM is deleted by
 * tools that clean /tmp, and by JVMs of another pid namespace that use the same /tmp.
 */
int hsperf_open_file(const struct procfs *proc, const struct jvm *jvm, int root_fd)
{
	struct fs_ids saved;
	int fd;

	if (root_fd < 0 || !jvm->perfdata)
		return -ENOENT;
	if (jvm->perfdata_link)
		return open_link(proc, jvm->pid, jvm->perfdata_link);
	fd = open_by_path(jvm, root_fd);
	/*
	 * EACCES: jtool is root without CAP_DAC_OVERRIDE, or the file is on NFS, and the NFS server
	 * treats root as nobody.  Open the file as the JVM's user, who may read it.
	 */
	if (fd == -EACCES && fs_ids_take(jvm->uid, jvm->gid, &saved)) {
		fd = open_by_path(jvm, root_fd);
		fs_ids_restore(&saved);
	}
	return fd == -ENOENT ? open_deleted(proc, jvm) : fd;
}

/*
 * Reads the start of the file, which has all counters.  Uses read(2), not mmap(2): if the owner
 * truncates the file, a mapping would raise SIGBUS.
 */
static int read_file(int fd, struct buf *bytes)
{
	int rc;

	(void)buf_reserve(bytes, PERFDATA_USUAL);
	rc = lseek(fd, 0, SEEK_SET) < 0 ? -errno : io_slurp(fd, bytes, PERFDATA_MAX);
	return rc == -EFBIG ? 0 : rc;
}

int hsperf_read_file(int fd, struct perfdata *perf)
{
	_cleanup_buf_ struct buf bytes = BUF_INIT;
	int rc = read_file(fd, &bytes);

	return rc < 0 ? rc : perfdata_parse(&bytes, perf);
}

static int is_starting(const struct jvm *jvm, struct err *err)
{
	return err_set(err, EXIT_ATTACH,
		       "JVM %d is still starting and has no hsperfdata counters yet; try again",
		       (int)jvm->pid);
}

/*
 * Sets the error for a JVM without counters; `why` is the reason.  The error text does not suggest
 * PerfCounter.print of the JDK's jcmd, because that command also needs the hsperfdata file.
 */
static int no_counters(const struct jvm *jvm, const char *why, struct err *err)
{
	if (jvm->no_attach)
		return err_set(err, EXIT_ANSWER,
			       "JVM %d has no hsperfdata counters: %s; attaching is disabled, too: "
			       "jtool info %d shows what /proc has", (int)jvm->pid, why,
			       (int)jvm->pid);
	return err_set(err, EXIT_ANSWER, "JVM %d has no hsperfdata counters: %s; jtool jcmd %d "
		       "GC.heap_info shows its heap", (int)jvm->pid, why, (int)jvm->pid);
}

static int bad_file(const struct jvm *jvm, int error, struct err *err)
{
	_cleanup_free_ char *why =
		xasprintf("its file cannot be read: %s", error == -EPERM ? "another user owns it" :
			  error == -EBADMSG ? "it is damaged" : strerror(-error));

	return no_counters(jvm, why, err);
}

/* Sets the error for a JVM that has mapped no hsperfdata file.  The error text has the reason. */
static int no_file(const struct procfs *proc, const struct jvm *jvm, struct err *err)
{
	_cleanup_free_ char *off = flags_value(jvm->flags, "-XX:-UsePerfData");

	if (!jvm->is_hotspot)
		return err_set(err, EXIT_ANSWER,
			       "JVM %d has no hsperfdata counters: it is not HotSpot; use its "
			       "vendor's tools", (int)jvm->pid);
	if (off)
		return no_counters(jvm, "it was started with -XX:-UsePerfData", err);
	if (flags_is_on(jvm->flags, "PerfDisableSharedMem"))
		return no_counters(jvm, "it was started with -XX:+PerfDisableSharedMem", err);
	if (inspect_attach_state(proc, jvm) == ATTACH_STARTING)
		return is_starting(jvm, err);
	/* The file's directory is hsperfdata_USER: for a user without a name, there is no file. */
	return no_counters(jvm, "-XX:-UsePerfData is in effect, its user is not in its "
			      "/etc/passwd, or it could not create a file in its /tmp", err);
}

static int cannot_open(const struct hsperf_source *h, int rc, struct err *err)
{
	const struct jvm *jvm = h->jvm;

	if (!jvm->perfdata)
		return no_file(&h->proc, jvm, err);
	if (jvm->perfdata_link && (rc == -EPERM || rc == -EACCES))
		return err_set(err, EXIT_PERMISSION,
			       "cannot read the counters of JVM %d: its hsperfdata file was "
			       "deleted, and only root of the host can read a deleted file; run "
			       "jtool there as root", (int)jvm->pid);
	if (rc == -EACCES)
		return jvm_denied(jvm, err);
	return bad_file(jvm, rc, err);
}

static bool is_alive(const struct hsperf_source *h)
{
	return procfs_is_alive(&h->proc, h->jvm->pid, h->jvm->start_ticks);
}

static int open_file(struct hsperf_source *h, struct err *err)
{
	_cleanup_close_ int root_fd = mounts_open_root(&h->proc, h->jvm->pid);

	h->fd = hsperf_open_file(&h->proc, h->jvm, root_fd);
	if (h->fd >= 0)
		return 0;
	if (!is_alive(h))
		return jvm_gone(h->jvm, err);
	if (root_fd == -EACCES || root_fd == -EPERM)
		return jvm_denied(h->jvm, err);
	return cannot_open(h, h->fd, err);
}

int hsperf_source_open(struct hsperf_source *s, const struct jvm *jvm, struct err *err)
{
	int rc;

	*s = (struct hsperf_source){ .jvm = jvm, .fd = -1 };
	rc = procfs_open(&s->proc, "/proc");
	if (rc < 0)
		return jvm_no_proc(rc, err);
	if (open_file(s, err) == 0)
		return 0;
	procfs_close(&s->proc);
	return -1;
}

void hsperf_source_close(struct hsperf_source *s)
{
	util_close_p(&s->fd);
	procfs_close(&s->proc);
}

/*
 * Reads the values first and checks that the JVM is alive afterwards.  So a JVM that passes the
 * check was alive when its values were read.
 */
int hsperf_source_read(const struct hsperf_source *s, struct buf *bytes, struct err *err)
{
	int rc = read_file(s->fd, bytes);

	if (!is_alive(s))
		return jvm_gone(s->jvm, err);
	return rc < 0 ? bad_file(s->jvm, rc, err) : 0;
}

int hsperf_source_parse(const struct jvm *jvm, struct buf *bytes, struct perfdata *perf,
			struct err *err)
{
	int rc = perfdata_parse(bytes, perf);

	if (rc == 0)
		return 0;
	return rc == -EAGAIN ? is_starting(jvm, err) : bad_file(jvm, rc, err);
}

static struct hsperf_source opened; /* used only in a worker: the file that the worker has open */

/*
 * In the worker: opens the file.  The request is a pointer to a struct jvm.  This pointer is valid
 * in the worker, because the worker is a fork of the process that has sent the request.
 */
static int answer_open(const struct buf *request, struct buf *answer, int *fd, struct err *err)
{
	const struct jvm *jvm;

	(void)answer;
	(void)fd;
	memcpy(&jvm, request->data, sizeof(jvm));
	return hsperf_source_open(&opened, jvm, err);
}

static int answer_values(const struct buf *request, struct buf *answer, int *fd, struct err *err)
{
	(void)request;
	(void)fd;
	return hsperf_source_read(&opened, answer, err);
}

static int ask(struct hsperf *h, worker_fn *fn, struct buf *answer, struct err *err)
{
	const struct buf request = { (char *)&h->jvm, sizeof(h->jvm), 0 };
	const struct worker_call call = {
		.fn = fn, .request = &request, .max = PERFDATA_MAX,
		.deadline = deadline_in_ms(WORKER_TASK_MS),
	};
	int rc = worker_start(&h->worker, NULL, 0);

	if (rc == 0)
		rc = worker_call(&h->worker, &call, answer, NULL, err);
	if (rc < 0)
		return discover_lost_worker(h->jvm, rc, err);
	return rc == 0 ? 0 : -1;
}

static bool is_local(const struct jvm *jvm)
{
	struct procfs proc;
	bool local;

	if (procfs_open(&proc, "/proc") < 0)
		return false;
	local = mounts_are_local(&proc, jvm->pid);
	procfs_close(&proc);
	return local;
}

static int open_here(struct hsperf *h, struct err *err)
{
	struct hsperf_source *s = xcalloc(1, sizeof(*s));

	if (hsperf_source_open(s, h->jvm, err) < 0) {
		free(s);
		return -1;
	}
	h->here = s;
	return 0;
}

int hsperf_source_read_once(const struct jvm *jvm, struct perfdata *perf, struct err *err)
{
	_cleanup_buf_ struct buf bytes = BUF_INIT;
	struct hsperf_source s;
	int rc;

	if (hsperf_source_open(&s, jvm, err) < 0)
		return -1;
	rc = hsperf_source_read(&s, &bytes, err);
	hsperf_source_close(&s);
	return rc < 0 ? -1 : hsperf_source_parse(jvm, &bytes, perf, err);
}

int hsperf_open(struct hsperf *h, const struct jvm *jvm, struct err *err)
{
	_cleanup_buf_ struct buf none = BUF_INIT;

	*h = (struct hsperf){ jvm, WORKER_INIT, NULL };
	if (jvm->hung)
		return jvm_unreachable(jvm, NULL, err);
	if (is_local(jvm))
		return open_here(h, err);
	if (ask(h, answer_open, &none, err) == 0)
		return 0;
	worker_end(&h->worker);
	return -1;
}

void hsperf_close(struct hsperf *h)
{
	worker_end(&h->worker);
	if (h->here)
		hsperf_source_close(h->here);
	free(h->here);
}

int hsperf_read(struct hsperf *h, struct perfdata *perf, struct err *err)
{
	_cleanup_buf_ struct buf bytes = BUF_INIT;
	int rc = h->here ? hsperf_source_read(h->here, &bytes, err) :
		 ask(h, answer_values, &bytes, err);

	if (rc < 0)
		return -1;
	return hsperf_source_parse(h->jvm, &bytes, perf, err);
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
