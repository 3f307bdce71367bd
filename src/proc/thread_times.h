/* The CPU times of the threads of a process, from /proc/PID/task. */
#ifndef JTOOL_PROC_THREAD_TIMES_H
#define JTOOL_PROC_THREAD_TIMES_H

#include "proc/procfs.h"

struct thread_time {
	pid_t tid;      /* in our pid namespace */
	pid_t nstid;    /* in the innermost namespace of the process, as the process sees it */
	double cpu_s;   /* user and system time, with the kernel's resolution, often 10 ms */
	uint64_t start_ticks; /* start time, in clock ticks since boot */
	char state;     /* R S D T t Z X … */
	char name[16];  /* comm: the beginning of the name */
};

struct thread_times {
	struct thread_time *list; /* in ascending order of nstid */
	size_t n, cap;
};

/*
 * Reads the times of all threads into empty `times`.  A file for each thread is read, and with
 * `namespaced`, for a process in another pid namespace, a second one.  Returns 0 or a negative
 * errno.  Release `times` in any case.
 */
int thread_times_read(const struct procfs *proc, pid_t pid, bool namespaced,
		      struct thread_times *times) _must_check_;
/*
 * The same, with an earlier reading of the process: no second file is read for the threads in it.
 * `before` may be NULL.
 */
int thread_times_read_after(const struct procfs *proc, pid_t pid, bool namespaced,
			    const struct thread_times *before, struct thread_times *times)
	_must_check_;
/* Returns the entry of a thread, or NULL. */
const struct thread_time *thread_times_find(const struct thread_times *times, int64_t nstid);
void thread_times_release(struct thread_times *times);

#endif
