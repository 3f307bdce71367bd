#include "proc/thread_times.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/xalloc.h"

#define STAT_MAX 4096

/* Sets name and CPU time from "TID (COMM) S PPID …", fields 14 and 15 (proc(5)). */
static int parse_stat(const char *stat, struct thread_time *t)
{
	const char *open = strchr(stat, '('), *close = strrchr(stat, ')'), *p = close;
	unsigned long long user, system;
	size_t len;

	if (!open || !close || close < open)
		return -EBADMSG;
	len = (size_t)(close - open) - 1;
	if (len >= sizeof(t->name))
		len = sizeof(t->name) - 1;
	memcpy(t->name, open + 1, len);
	t->name[len] = '\0';
	for (int field = 2; field < 14; field++) {
		p = strchr(p + 1, ' ');
		if (!p)
			return -EBADMSG;
	}
	if (sscanf(p, "%llu %llu", &user, &system) != 2)
		return -EBADMSG;
	t->cpu_s = (double)(user + system) / (double)sysconf(_SC_CLK_TCK);
	return 0;
}

/* Returns the last number of the line NSpid: of a status file, or tid if there is none. */
static pid_t innermost(const char *status, pid_t tid)
{
	const char *line = strstr(status, "\nNSpid:"), *end = line ? strchr(line + 1, '\n') : NULL;

	if (!end)
		return tid;
	while (end > line && isdigit((unsigned char)end[-1]))
		end--;
	return (pid_t)strtol(end, NULL, 10);
}

/* Returns false if the thread has ended. */
static bool read_thread(const struct procfs *proc, pid_t pid, bool namespaced,
			struct thread_time *t)
{
	_cleanup_buf_ struct buf stat = BUF_INIT, status = BUF_INIT;
	char path[64];

	(void)snprintf(path, sizeof(path), "task/%d/stat", (int)t->tid);
	if (procfs_read(proc, pid, path, &stat, STAT_MAX) < 0 || parse_stat(buf_str(&stat), t) < 0)
		return false;
	t->nstid = t->tid;
	if (!namespaced)
		return true;
	(void)snprintf(path, sizeof(path), "task/%d/status", (int)t->tid);
	if (procfs_read(proc, pid, path, &status, STAT_MAX) < 0)
		return false;
	t->nstid = innermost(buf_str(&status), t->tid);
	return true;
}

static int by_nstid(const void *a, const void *b)
{
	const struct thread_time *x = a, *y = b;

	return (x->nstid > y->nstid) - (x->nstid < y->nstid);
}

int thread_times_read(const struct procfs *proc, pid_t pid, bool namespaced,
		      struct thread_times *times)
{
	int fd = procfs_openat(proc, pid, "task", O_RDONLY | O_DIRECTORY);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);

	if (!dir) {
		util_close_p(&fd);
		return fd < 0 ? fd : -ENOMEM;
	}
	for (const struct dirent *entry; (entry = readdir(dir)) != NULL;) {
		struct thread_time t = { .tid = (pid_t)strtol(entry->d_name, NULL, 10) };

		if (t.tid <= 0 || !read_thread(proc, pid, namespaced, &t))
			continue; /* ".", "..", or a thread that has ended */
		times->list = xgrow(times->list, times->n, &times->cap, sizeof(*times->list));
		times->list[times->n++] = t;
	}
	(void)closedir(dir);
	if (times->n > 0)
		qsort(times->list, times->n, sizeof(*times->list), by_nstid);
	return 0;
}

const struct thread_time *thread_times_find(const struct thread_times *times, int64_t nstid)
{
	const struct thread_time key = { .nstid = (pid_t)nstid };

	if (nstid <= 0 || nstid > INT32_MAX || times->n == 0)
		return NULL;
	return bsearch(&key, times->list, times->n, sizeof(*times->list), by_nstid);
}

void thread_times_release(struct thread_times *times)
{
	free(times->list);
	*times = (struct thread_times){ .list = NULL };
}
