#include "proc/thread_times.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/xalloc.h"
#include "fileio/io.h"
#include "proc/stat_line.h"

#define STAT_MAX 1024
#define STATUS_MAX 4096

/*
 * `status` is the text of a thread's status file.  Returns the last number in its line "NSpid:", or
 * `tid` if it has no such line.
 */
static pid_t innermost(const char *status, pid_t tid)
{
	const char *line = strstr(status, "\nNSpid:"), *end = line ? strchr(line + 1, '\n') : NULL;

	if (!end)
		return tid;
	while (end > line && isdigit((unsigned char)end[-1]))
		end--;
	return (pid_t)strtol(end, NULL, 10);
}

/* Values that are the same for all threads of a reading. */
struct reading {
	const struct procfs *proc;
	pid_t pid;
	int task_fd; /* descriptor of the directory PID/task */
	bool namespaced;
	const struct thread_times *before; /* the earlier reading; NULL: none */
	size_t next; /* index in `before` at which to look first for the next thread */
};

/* Calls read(2) only once: one call reads the complete file, which is shorter than the buffer. */
static int read_stat(const struct reading *r, pid_t tid, struct stat_line *line)
{
	char path[32], text[STAT_MAX];
	_cleanup_close_ int fd = -1;
	ssize_t n;

	(void)snprintf(path, sizeof(path), "%d/stat", (int)tid);
	fd = openat(r->task_fd, path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? -1 : io_read(fd, text, sizeof(text) - 1);
	if (n <= 0)
		return -ESRCH;
	text[n] = '\0';
	return stat_line_parse(text, line);
}

/*
 * Returns the thread's element in r->before; NULL if the thread is new.  Is fast, because most
 * threads have the same order in both readings.
 */
static const struct thread_time *find_before(struct reading *r, const struct thread_time *t)
{
	for (size_t i = 0; r->before && i < r->before->n; i++) {
		size_t at = (r->next + i) % r->before->n;
		const struct thread_time *found = &r->before->list[at];

		if (found->tid != t->tid || found->start_ticks != t->start_ticks)
			continue;
		r->next = at + 1;
		return found;
	}
	return NULL;
}

/* Sets t->nstid, from r->before or a status file.  Returns false if the thread has ended. */
static bool find_nstid(struct reading *r, struct thread_time *t)
{
	const struct thread_time *found = r->namespaced ? find_before(r, t) : NULL;
	_cleanup_buf_ struct buf status = BUF_INIT;
	char path[64];

	t->nstid = found ? found->nstid : t->tid;
	if (!r->namespaced || found)
		return true;
	(void)snprintf(path, sizeof(path), "task/%d/status", (int)t->tid);
	if (procfs_read(r->proc, r->pid, path, &status, STATUS_MAX) < 0)
		return false;
	t->nstid = innermost(buf_str(&status), t->tid);
	return true;
}

/* Reads the times of the thread t->tid.  Returns false if the thread has ended. */
static bool read_thread(struct reading *r, struct thread_time *t)
{
	struct stat_line line;

	if (read_stat(r, t->tid, &line) < 0)
		return false;
	t->cpu_s = line.cpu_s;
	t->start_ticks = line.start_ticks;
	t->state = line.state;
	memcpy(t->name, line.name, sizeof(t->name));
	return find_nstid(r, t);
}

static int by_nstid(const void *a, const void *b)
{
	const struct thread_time *x = a, *y = b;

	return (x->nstid > y->nstid) - (x->nstid < y->nstid);
}

int thread_times_read_after(const struct procfs *proc, pid_t pid, bool namespaced,
			    const struct thread_times *before, struct thread_times *times)
{
	struct reading r = { proc, pid, -1, namespaced, before, 0 };
	int fd = procfs_openat(proc, pid, "task", O_RDONLY | O_DIRECTORY);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);

	if (!dir) {
		util_close_p(&fd);
		return fd < 0 ? fd : -ENOMEM;
	}
	r.task_fd = fd;
	for (const struct dirent *entry; (entry = readdir(dir)) != NULL;) {
		struct thread_time t = { .tid = (pid_t)strtol(entry->d_name, NULL, 10) };

		if (t.tid <= 0 || !read_thread(&r, &t))
			continue; /* "." and "..", or a thread that has ended */
		times->list = xgrow(times->list, times->n, &times->cap, sizeof(*times->list));
		times->list[times->n++] = t;
	}
	(void)closedir(dir);
	if (times->n > 0)
		qsort(times->list, times->n, sizeof(*times->list), by_nstid);
	return 0;
}

int thread_times_read(const struct procfs *proc, pid_t pid, bool namespaced,
		      struct thread_times *times)
{
	return thread_times_read_after(proc, pid, namespaced, NULL, times);
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
