#include "target/counters.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/io.h"
#include "proc/inroot.h"
#include "target/cmdline.h"
#include "target/discover.h"

#define PERFDATA_MAX (4u * 1024 * 1024) /* 32 KB unless -XX:PerfDataMemorySize says more */

/*
 * By its path, when it is the user's own.  Cleaners of /tmp delete the files of running JVMs,
 * and so do JVMs of other pid namespaces that share it: then through map_files, as root.
 */
int counters_open_file(const struct procfs *proc, const struct jvm *jvm, int root_fd)
{
	struct stat st;
	_cleanup_close_ int fd = -1, link = -1;

	if (root_fd < 0 || !jvm->perfdata)
		return -ENOENT;
	if (jvm->perfdata_link) {
		link = procfs_openat(proc, jvm->pid, jvm->perfdata_link, O_PATH);
		return link < 0 ? link : inroot_open_found(link, &st);
	}
	fd = inroot_open_regular(root_fd, jvm->perfdata, O_NOFOLLOW, &st);
	if (fd < 0)
		return fd;
	return st.st_uid == jvm->uid ? TAKE_FD(fd) : -EPERM;
}

/* With read(2) and never mapped: its owner may cut it at any time. */
int counters_read_file(int fd, struct perfdata *perf)
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
		       "JVM %d is still starting and publishes no counters yet: try again",
		       (int)jvm->pid);
}

/* No other way leads to the counters: even the JDK's jcmd reads PerfCounter.print from the file. */
static int publishes_none(const struct jvm *jvm, const char *why, struct err *err)
{
	if (jvm->no_attach)
		return err_set(err, EXIT_ANSWER,
			       "JVM %d publishes no counters: %s; nor can it be asked, with "
			       "attaching disabled: jtool info %d tells the rest",
			       (int)jvm->pid, why, (int)jvm->pid);
	return err_set(err, EXIT_ANSWER,
		       "JVM %d publishes no counters: %s; jtool jcmd %d GC.heap_info asks the JVM "
		       "itself", (int)jvm->pid, why, (int)jvm->pid);
}

/* It has mapped no file. */
static int no_file(const struct procfs *proc, const struct jvm *jvm, struct err *err)
{
	_cleanup_free_ char *off = flags_value(jvm->flags, "-XX:-UsePerfData");

	if (!jvm->is_hotspot)
		return err_set(err, EXIT_ANSWER,
			       "JVM %d publishes no counters: it is no HotSpot", (int)jvm->pid);
	if (off)
		return publishes_none(jvm, "it was started with -XX:-UsePerfData", err);
	if (flags_is_on(jvm->flags, "PerfDisableSharedMem"))
		return publishes_none(jvm, "it was started with -XX:+PerfDisableSharedMem", err);
	if (discover_attach_state(proc, jvm) == ATTACH_STARTING)
		return is_starting(jvm, err);
	/* HotSpot names the directory after the user, and makes none for one without a name. */
	return publishes_none(jvm, "-XX:-UsePerfData is in force, its user is not in its "
			      "/etc/passwd, or it could make no file in its /tmp", err);
}

static int cannot_open(const struct counters *c, int rc, struct err *err)
{
	const struct jvm *jvm = c->jvm;

	if (!jvm->perfdata)
		return no_file(&c->proc, jvm, err);
	if (jvm->perfdata_link && (rc == -EPERM || rc == -EACCES))
		return err_set(err, EXIT_PERMISSION,
			       "JVM %d: its file of counters was deleted, and only root can still "
			       "read it", (int)jvm->pid);
	return err_set(err, rc == -EACCES ? EXIT_PERMISSION : EXIT_ANSWER,
		       "JVM %d: its file of counters cannot be read: %s", (int)jvm->pid,
		       rc == -EPERM ? "it is not its user's" : strerror(-rc));
}

/* Is it still the process that was found? */
static bool is_alive(const struct counters *c)
{
	struct proc_status status;

	return procfs_same(&c->proc, c->jvm->pid, c->jvm->start_ticks, &status) == 0;
}

static int open_file(struct counters *c, struct err *err)
{
	_cleanup_close_ int root_fd =
		procfs_openat(&c->proc, c->jvm->pid, "root", O_PATH | O_DIRECTORY);

	if (!is_alive(c))
		return jvm_gone(c->jvm, err);
	if (root_fd == -EACCES || root_fd == -EPERM)
		return jvm_denied(c->jvm, err);
	c->fd = counters_open_file(&c->proc, c->jvm, root_fd);
	if (c->fd >= 0)
		return 0;
	return is_alive(c) ? cannot_open(c, c->fd, err) : jvm_gone(c->jvm, err);
}

int counters_open(struct counters *c, const struct jvm *jvm, struct err *err)
{
	int rc;

	*c = (struct counters){ .jvm = jvm, .fd = -1 };
	rc = procfs_open(&c->proc, "/proc");
	if (rc < 0)
		return err_set(err, EXIT_PERMISSION, "/proc cannot be opened: %s", strerror(-rc));
	if (open_file(c, err) == 0)
		return 0;
	procfs_close(&c->proc);
	return -1;
}

void counters_close(struct counters *c)
{
	(void)close(c->fd); /* was only read */
	procfs_close(&c->proc);
}

/* First the figures, then the question whether the JVM is there: so they are of a living one. */
int counters_read(const struct counters *c, struct perfdata *perf, struct err *err)
{
	int rc = counters_read_file(c->fd, perf);

	if (!is_alive(c)) {
		if (rc == 0)
			perfdata_release(perf);
		return jvm_gone(c->jvm, err);
	}
	if (rc == 0)
		return 0;
	if (rc == -EAGAIN)
		return is_starting(c->jvm, err);
	return err_set(err, EXIT_ANSWER, "JVM %d: its file of counters makes no sense: %s",
		       (int)c->jvm->pid, strerror(-rc));
}

int counters_read_once(const struct jvm *jvm, struct perfdata *perf, struct err *err)
{
	struct counters c;
	int rc;

	if (counters_open(&c, jvm, err) < 0)
		return -1;
	rc = counters_read(&c, perf, err);
	counters_close(&c);
	return rc;
}
