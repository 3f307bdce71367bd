/* The CPU times of the threads of a process, from /proc/PID/task. */
#ifndef JTOOL_PROC_THREAD_TIMES_H
#define JTOOL_PROC_THREAD_TIMES_H

#include "proc/procfs.h"

struct thread_time {
	pid_t tid;      /* thread id in jtool's pid namespace */
	pid_t nstid;    /* thread id in the innermost pid namespace of the process */
	/* user and system time in seconds; its resolution is the kernel's, often 10 ms */
	double cpu_s;
	uint64_t start_ticks; /* start time, in clock ticks since boot */
	char state;     /* R S D T t Z X … */
	char name[16];  /* beginning of the thread's name */
};

struct thread_times {
	struct thread_time *list; /* in ascending order of nstid */
	size_t n, cap;
};

/*
 * Reads the times of all threads into the empty `times`.  Reads one file for each thread, and if
 * `namespaced` is set, a second file for nstid.  Set `namespaced` for a process in another pid
 * namespace.  Returns 0 or a negative errno.  Release `times` in either case.
 */
int thread_times_read(const struct procfs *proc, pid_t pid, bool namespaced,
		      struct thread_times *times) _must_check_;
/*
 * Like thread_times_read(), but takes the nstid of a thread from `before`, an earlier reading of
 * the same process, if `before` contains the thread; then reads only one file for the thread.
 * `before` may be NULL.
 */
int thread_times_read_after(const struct procfs *proc, pid_t pid, bool namespaced,
			    const struct thread_times *before, struct thread_times *times)
	_must_check_;
/* Returns the entry of the thread with this nstid, or NULL. */
const struct thread_time *thread_times_find(const struct thread_times *times, int64_t nstid);
void thread_times_release(struct thread_times *times);

#endif
