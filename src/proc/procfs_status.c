/* Reads the properties of a process from PID/status, PID/stat and PID/limits. */
#include "proc/procfs.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <string.h>
#include <time.h>

#include "proc/stat_line.h"

#define STATUS_MAX (64u * 1024)
#define OVERFLOW_GID 65534 /* default of /proc/sys/kernel/overflowgid */

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

static int read_stat(const struct procfs *proc, pid_t pid, struct proc_status *status)
{
	_cleanup_buf_ struct buf text = BUF_INIT;
	struct stat_line line;
	int rc = procfs_read(proc, pid, "stat", &text, STATUS_MAX);

	if (rc < 0)
		return rc;
	if (stat_line_parse(buf_str(&text), &line) < 0)
		return -EBADMSG;
	status->start_ticks = line.start_ticks;
	status->exiting = line.exiting;
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
	int rc = read_stat(proc, pid, &found);

	if (rc < 0)
		return rc;
	rc = procfs_read(proc, pid, "status", &text, STATUS_MAX);
	if (rc < 0)
		return rc;
	parse_status(buf_str(&text), pid, &found);
	*status = found;
	return 0;
}

int procfs_groups(const struct procfs *proc, pid_t pid, gid_t *groups, size_t max)
{
	_cleanup_buf_ struct buf text = BUF_INIT;
	int rc = procfs_read(proc, pid, "status", &text, STATUS_MAX);
	const char *line = rc < 0 ? NULL : status_line(buf_str(&text), "Groups");
	size_t n = 0;

	while (line && isdigit((unsigned char)*line)) {
		char *end;
		unsigned long gid = strtoul(line, &end, 10);

		line = end + strspn(end, "\t ");
		if (gid == OVERFLOW_GID)
			continue;
		if (n == max)
			return -E2BIG;
		groups[n++] = (gid_t)gid;
	}
	return rc < 0 ? rc : (int)n;
}

bool procfs_is_own(const struct procfs *proc)
{
	_cleanup_buf_ struct buf text = BUF_INIT;

	/* The link self leads nowhere if this process has no pid in the namespace of this /proc. */
	if (strcmp(proc->root, "/proc") != 0 ||
	    procfs_read_own(proc, "status", &text, STATUS_MAX) < 0)
		return false;
	/*
	 * NSpid has the pids from the namespace of this /proc to that of the process.  A second pid
	 * is needed to recognise the /proc of an outer namespace in which the process happens to
	 * have the same pid.
	 */
	return status_number(buf_str(&text), "Pid", 10, 0, 0) == (uint64_t)getpid() &&
	       status_number(buf_str(&text), "NSpid", 10, 1, 0) == 0;
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

bool procfs_is_alive(const struct procfs *proc, pid_t pid, uint64_t start_ticks)
{
	struct proc_status found;

	return read_stat(proc, pid, &found) == 0 && found.start_ticks == start_ticks &&
	       !found.exiting; /* a zombie is exiting, too */
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
	struct stat_line line;

	if (stat_line_parse(stat, &line) < 0)
		return -EBADMSG;
	usage->parent = line.parent;
	usage->user = line.user_s;
	usage->system = line.system_s;
	return 0;
}

int procfs_memory(const struct procfs *proc, pid_t pid, struct proc_memory *memory)
{
	_cleanup_buf_ struct buf status = BUF_INIT;
	int rc = procfs_read(proc, pid, "status", &status, STATUS_MAX);

	if (rc < 0)
		return rc;
	memory->resident = status_size(buf_str(&status), "VmRSS");
	memory->resident_peak = status_size(buf_str(&status), "VmHWM");
	memory->swapped = status_size(buf_str(&status), "VmSwap");
	return 0;
}

int procfs_usage(const struct procfs *proc, pid_t pid, struct proc_usage *usage)
{
	_cleanup_buf_ struct buf stat = BUF_INIT, limits = BUF_INIT;
	int rc = procfs_read(proc, pid, "stat", &stat, STATUS_MAX);

	if (rc == 0)
		rc = parse_times(buf_str(&stat), usage);
	if (rc == 0)
		rc = procfs_memory(proc, pid, &usage->memory);
	if (rc < 0)
		return rc;
	usage->open_files = count_files(proc, pid);
	usage->max_files = -1;
	if (procfs_read(proc, pid, "limits", &limits, STATUS_MAX) == 0)
		usage->max_files = soft_limit(buf_str(&limits), "Max open files");
	return 0;
}

double procfs_uptime(const struct procfs *proc, const struct proc_status *status)
{
	struct timespec now;
	long hz = sysconf(_SC_CLK_TCK);
	int64_t ms;

	(void)proc; /* /proc/uptime is not read: lxcfs counts it from the container's start */
	if (hz <= 0 || clock_gettime(CLOCK_BOOTTIME, &now) < 0)
		return -1;
	/* Milliseconds are exact enough: a start time is exact to a tick, which is 10 ms. */
	ms = (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000 -
	     (int64_t)(status->start_ticks / (uint64_t)hz * 1000 +
		       status->start_ticks % (uint64_t)hz * 1000 / (uint64_t)hz);
	return ms < 0 ? 0 : (double)ms / 1000;
}
