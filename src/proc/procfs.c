#include "proc/procfs.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <time.h>

#include "fileio/file_open.h"
#include "fileio/io.h"
#include "base/xalloc.h"

#define STATUS_MAX (64u * 1024)
#define PF_EXITING 0x4 /* include/linux/sched.h, which is not exported to user space */

int procfs_open(struct procfs *proc, const char *path)
{
	_cleanup_close_ int fd = file_open_path(AT_FDCWD, path, O_DIRECTORY);
	struct statfs fs;

	if (fd < 0)
		return fd;
	if (strcmp(path, "/proc") == 0 &&
	    (fstatfs(fd, &fs) < 0 || (uint32_t)fs.f_type != PROC_SUPER_MAGIC))
		return -ENODEV;
	proc->fd = TAKE_FD(fd);
	proc->root = path;
	return 0;
}

void procfs_close(struct procfs *proc)
{
	util_close_p(&proc->fd);
	proc->fd = -1;
}

static int by_number(const void *a, const void *b)
{
	pid_t x = *(const pid_t *)a, y = *(const pid_t *)b;

	return (x > y) - (x < y);
}

/* Returns the pid in the name of a directory of /proc, or 0 if the name is not a number. */
static pid_t pid_of(const char *name)
{
	long n;
	char *end;

	if (*name < '1' || *name > '9')
		return 0;
	errno = 0;
	n = strtol(name, &end, 10);
	return errno || *end || n > INT_MAX ? 0 : (pid_t)n;
}

int procfs_pids(const struct procfs *proc, pid_t **pids, size_t *n)
{
	int fd = file_open_dir(proc->fd, ".", 0);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	pid_t *list = NULL;
	size_t used = 0, cap = 0;

	if (!dir) {
		int rc = fd < 0 ? fd : -errno;

		util_close_p(&fd);
		return rc;
	}
	for (const struct dirent *entry; (entry = readdir(dir)) != NULL;) {
		pid_t pid = pid_of(entry->d_name);

		if (!pid)
			continue;
		list = xgrow(list, used, &cap, sizeof(*list));
		list[used++] = pid;
	}
	(void)closedir(dir);
	if (used > 0)
		qsort(list, used, sizeof(*list), by_number);
	*pids = list;
	*n = used;
	return 0;
}

static int pid_path(char path[static 128], pid_t pid, const char *name)
{
	int n = snprintf(path, 128, "%d/%s", (int)pid, name);

	return n < 0 || n >= 128 ? -ENAMETOOLONG : 0;
}

/*
 * Uses the owner and group of the directory PID as ids: they are the effective ids of the process,
 * even if the process is undumpable.
 */
bool procfs_take_ids(const struct procfs *proc, pid_t pid, struct fs_ids *saved)
{
	char path[128];
	struct stat st;

	return pid_path(path, pid, "") == 0 && fstatat(proc->fd, path, &st, 0) == 0 &&
	       fs_ids_take(st.st_uid, st.st_gid, saved);
}

static bool is_denied(int rc)
{
	return rc == -EACCES || rc == -EPERM;
}

static int open_path(const struct procfs *proc, const char *path, int flags)
{
	int fd;

	do
		fd = openat(proc->fd, path, flags | O_CLOEXEC);
	while (fd < 0 && errno == EINTR);
	return fd < 0 ? -errno : fd;
}

int procfs_openat(const struct procfs *proc, pid_t pid, const char *name, int flags)
{
	char path[128];
	struct fs_ids saved;
	int rc = pid_path(path, pid, name);

	if (rc == 0)
		rc = open_path(proc, path, flags);
	if (is_denied(rc) && procfs_take_ids(proc, pid, &saved)) {
		rc = open_path(proc, path, flags);
		fs_ids_restore(&saved);
	}
	return rc;
}

int procfs_stat(const struct procfs *proc, pid_t pid, const char *name, struct stat *st)
{
	char path[128];
	struct fs_ids saved;
	int rc = pid_path(path, pid, name);

	if (rc == 0)
		rc = fstatat(proc->fd, path, st, 0) < 0 ? -errno : 0;
	if (is_denied(rc) && procfs_take_ids(proc, pid, &saved)) {
		rc = fstatat(proc->fd, path, st, 0) < 0 ? -errno : 0;
		fs_ids_restore(&saved);
	}
	return rc;
}

/* Returns the length of the link's target, without a NUL, or a negative errno. */
static int read_link(const struct procfs *proc, const char *path, char target[static PATH_MAX])
{
	ssize_t n = readlinkat(proc->fd, path, target, PATH_MAX);

	return n < 0 ? -errno : n == PATH_MAX ? -ENAMETOOLONG : (int)n;
}

int procfs_read(const struct procfs *proc, pid_t pid, const char *name, struct buf *out, size_t max)
{
	_cleanup_close_ int fd = procfs_openat(proc, pid, name, O_RDONLY);

	return fd < 0 ? fd : io_slurp(fd, out, max);
}

int procfs_read_own(const struct procfs *proc, const char *name, struct buf *out, size_t max)
{
	char path[128];
	int n = snprintf(path, sizeof(path), "self/%s", name);
	_cleanup_close_ int fd =
		n < (int)sizeof(path) ? open_path(proc, path, O_RDONLY) : -ENAMETOOLONG;

	return fd < 0 ? fd : io_slurp(fd, out, max);
}

char *procfs_readlink(const struct procfs *proc, pid_t pid, const char *name)
{
	char path[128], target[PATH_MAX];
	struct fs_ids saved;
	int rc = pid_path(path, pid, name);

	if (rc == 0)
		rc = read_link(proc, path, target);
	if (is_denied(rc) && procfs_take_ids(proc, pid, &saved)) {
		rc = read_link(proc, path, target);
		fs_ids_restore(&saved);
	}
	if (rc >= 0)
		return xstrndup(target, (size_t)rc);
	errno = -rc;
	return NULL;
}

/* Returns the position after "KEY:" and spaces in `text`, or NULL if no line has this key. */
static const char *status_line(const char *text, const char *key)
{
	size_t len = strlen(key);

	for (const char *line = text; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (strncmp(line, key, len) == 0 && line[len] == ':')
			return line + len + 1 + strspn(line + len + 1, "\t ");
	}
	return NULL;
}

/* Returns number n (from 0) in the line of `key`; `absent` if the line or the number is missing. */
static uint64_t status_number(const char *text, const char *key, int base, int n, uint64_t absent)
{
	const char *line = status_line(text, key);

	for (; line && isxdigit((unsigned char)*line); n--) {
		char *end;
		uint64_t value = strtoull(line, &end, base);

		if (n == 0)
			return value;
		line = end + strspn(end, "\t ");
	}
	return absent;
}

/* Returns the last pid in the line NSpid, or `pid` on Linux before 4.1, which has no such line. */
static pid_t innermost_pid(const char *text, pid_t pid)
{
	uint64_t found = (uint64_t)pid;

	for (int i = 0; i < 33; i++) { /* namespaces nest 32 deep: MAX_PID_NS_LEVEL */
		uint64_t next = status_number(text, "NSpid", 10, i, 0);

		if (next == 0 || next > INT_MAX)
			break;
		found = next;
	}
	return (pid_t)found;
}

/* Reads field n of PID/stat.  Field 2, the name, may have any byte: count from the last ')'. */
static int stat_field(const char *stat, int n, uint64_t *value)
{
	const char *p = strrchr(stat, ')');

	for (int field = 2; field < n; field++) {
		p = p ? strchr(p, ' ') : NULL;
		if (!p)
			return -EBADMSG;
		p++;
	}
	if (!isdigit((unsigned char)*p))
		return -EBADMSG;
	*value = strtoull(p, NULL, 10);
	return 0;
}

static int parse_stat(const char *stat, struct proc_status *status)
{
	uint64_t flags;

	if (stat_field(stat, 9, &flags) < 0 || stat_field(stat, 22, &status->start_ticks) < 0)
		return -EBADMSG;
	status->exiting = flags & PF_EXITING;
	return 0;
}

static void parse_status(const char *text, pid_t pid, struct proc_status *status)
{
	const char *name = status_line(text, "Name");
	const char *state = status_line(text, "State");
	size_t len = name ? strcspn(name, "\n") : 0;

	if (len >= sizeof(status->name))
		len = sizeof(status->name) - 1;
	memcpy(status->name, name ? name : "", len);
	status->name[len] = '\0';
	status->state = state && *state != '\n' && *state ? *state : '?';
	status->tgid = (pid_t)status_number(text, "Tgid", 10, 0, (uint64_t)pid);
	status->nspid = innermost_pid(text, pid);
	status->euid = (uid_t)status_number(text, "Uid", 10, 1, (uint64_t)-1);
	status->egid = (gid_t)status_number(text, "Gid", 10, 1, (uint64_t)-1);
	status->threads = (unsigned)status_number(text, "Threads", 10, 0, 1);
	status->sig_caught = status_number(text, "SigCgt", 16, 0, 0);
	status->sig_pending = status_number(text, "SigPnd", 16, 0, 0) |
			      status_number(text, "ShdPnd", 16, 0, 0);
	status->caps = (struct capability_sets){
		.inheritable = status_number(text, "CapInh", 16, 0, 0),
		.permitted = status_number(text, "CapPrm", 16, 0, 0),
		.effective = status_number(text, "CapEff", 16, 0, 0),
		.bounding = status_number(text, "CapBnd", 16, 0, 0),
	};
	/* After a fatal signal, SIGKILL is pending for every thread until the process exits. */
	if (status->sig_pending & UINT64_C(1) << (SIGKILL - 1))
		status->exiting = true;
}

int procfs_status(const struct procfs *proc, pid_t pid, struct proc_status *status)
{
	_cleanup_buf_ struct buf text = BUF_INIT;
	struct proc_status found = { .nspid = pid };
	int rc = procfs_read(proc, pid, "stat", &text, STATUS_MAX);

	if (rc == 0)
		rc = parse_stat(buf_str(&text), &found);
	if (rc < 0)
		return rc;
	buf_reset(&text);
	rc = procfs_read(proc, pid, "status", &text, STATUS_MAX);
	if (rc < 0)
		return rc;
	parse_status(buf_str(&text), pid, &found);
	*status = found;
	return 0;
}

int procfs_recheck(const struct procfs *proc, pid_t pid, uint64_t start_ticks,
		struct proc_status *status)
{
	struct proc_status found;

	if (procfs_status(proc, pid, &found) < 0 || found.start_ticks != start_ticks ||
	    found.exiting || found.state == 'Z' || found.state == 'X')
		return -ESRCH;
	*status = found;
	return 0;
}

/* Returns a size in bytes from PID/status, which shows kB; -1 if no line has this key. */
static int64_t status_size(const char *text, const char *key)
{
	uint64_t kb = status_number(text, key, 10, 0, UINT64_MAX);

	return kb > INT64_MAX / 1024 ? -1 : (int64_t)kb * 1024;
}

/* Finds "NAME SOFT HARD UNIT" in PID/limits.  Returns the soft limit; -1: unlimited or absent. */
static int64_t soft_limit(const char *text, const char *name)
{
	const char *line = strstr(text, name);
	char *end;
	uint64_t n;

	if (!line)
		return -1;
	line += strlen(name);
	n = strtoull(line, &end, 10);
	return end == line || n > INT64_MAX ? -1 : (int64_t)n;
}

static int64_t count_files(const struct procfs *proc, pid_t pid)
{
	int fd = procfs_openat(proc, pid, "fd", O_RDONLY | O_DIRECTORY);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	int64_t n = 0;

	if (!dir) {
		util_close_p(&fd);
		return -1;
	}
	for (const struct dirent *entry; (entry = readdir(dir)) != NULL;)
		n += isdigit((unsigned char)entry->d_name[0]) != 0;
	(void)closedir(dir);
	return n;
}

static int parse_times(const char *stat, struct proc_usage *usage)
{
	long hz = sysconf(_SC_CLK_TCK);
	uint64_t parent, user, system;

	if (hz <= 0 || stat_field(stat, 4, &parent) < 0 || stat_field(stat, 14, &user) < 0 ||
	    stat_field(stat, 15, &system) < 0)
		return -EBADMSG;
	usage->parent = (pid_t)parent;
	usage->user = (double)user / (double)hz;
	usage->system = (double)system / (double)hz;
	return 0;
}

int procfs_usage(const struct procfs *proc, pid_t pid, struct proc_usage *usage)
{
	_cleanup_buf_ struct buf stat = BUF_INIT, status = BUF_INIT, limits = BUF_INIT;
	int rc = procfs_read(proc, pid, "stat", &stat, STATUS_MAX);

	if (rc == 0)
		rc = parse_times(buf_str(&stat), usage);
	if (rc == 0)
		rc = procfs_read(proc, pid, "status", &status, STATUS_MAX);
	if (rc < 0)
		return rc;
	usage->resident = status_size(buf_str(&status), "VmRSS");
	usage->resident_peak = status_size(buf_str(&status), "VmHWM");
	usage->swapped = status_size(buf_str(&status), "VmSwap");
	usage->open_files = count_files(proc, pid);
	usage->max_files = -1;
	if (procfs_read(proc, pid, "limits", &limits, STATUS_MAX) == 0)
		usage->max_files = soft_limit(buf_str(&limits), "Max open files");
	return 0;
}

int procfs_threads(const struct procfs *proc, pid_t pid, unsigned *threads)
{
	char path[128];
	struct stat st;
	int rc = pid_path(path, pid, "task");

	if (rc < 0)
		return rc;
	if (fstatat(proc->fd, path, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return -errno;
	/* The link count of a directory is 2 + the number of its subdirectories, here threads. */
	*threads = st.st_nlink > 2 ? (unsigned)st.st_nlink - 2 : 0;
	return 0;
}

int procfs_thread_names(const struct procfs *proc, pid_t pid, procfs_thread_visit *visit, void *arg)
{
	int fd = procfs_openat(proc, pid, "task", O_RDONLY | O_DIRECTORY);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	bool more = true;

	if (!dir) {
		util_close_p(&fd);
		return fd < 0 ? fd : -ENOMEM;
	}
	for (const struct dirent *entry; more && (entry = readdir(dir)) != NULL;) {
		_cleanup_buf_ struct buf name = BUF_INIT;
		char path[64];

		(void)snprintf(path, sizeof(path), "task/%d/comm", (int)pid_of(entry->d_name));
		if (procfs_read(proc, pid, path, &name, 64) < 0 || name.len == 0)
			continue; /* ".", "..", or a thread that has ended */
		name.data[strcspn(name.data, "\n")] = '\0';
		more = visit(name.data, arg);
	}
	(void)closedir(dir);
	return 0;
}

double procfs_uptime(const struct procfs *proc, const struct proc_status *status)
{
	struct timespec now;
	long hz = sysconf(_SC_CLK_TCK);
	int64_t ms;

	(void)proc; /* /proc/uptime may be a container's (lxcfs), but start times are the host's */
	if (hz <= 0 || clock_gettime(CLOCK_BOOTTIME, &now) < 0)
		return -1;
	/* Milliseconds are exact enough: a start time is exact to a tick, which is 10 ms. */
	ms = (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000 -
	     (int64_t)(status->start_ticks / (uint64_t)hz * 1000 +
		       status->start_ticks % (uint64_t)hz * 1000 / (uint64_t)hz);
	return ms < 0 ? 0 : (double)ms / 1000;
}
