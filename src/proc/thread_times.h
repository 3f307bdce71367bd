/* The CPU times of the threads of a process, from /proc/PID/task. */
#ifndef JTOOL_PROC_THREAD_TIMES_H
#define JTOOL_PROC_THREAD_TIMES_H

#include "proc/procfs.h"

struct thread_time {
	pid_t tid;      /* thread id in jtool's pid namespace */
	pid_t nstid;    /* thread id in the innermost pid namespace of the process */
	/* user time + system time in seconds; the kernel often rounds it to 10 ms */
	double cpu_s;
	uint64_t start_ticks; /* start time, in clock ticks since boot */
	char state;     /* as in /proc/PID/stat: R S D T t Z X … */
	char name[16];  /* first 15 bytes of the thread's name */
};

struct thread_times {
	struct thread_time *list; /* in ascending order of nstid */
	size_t n, cap;
};

/*
 * Reads the times of all threads of a process into `times`, which must be empty.  Set `namespaced`
 * if the process is in another pid namespace.  Reads one file for each thread; if `namespaced` is
 * set, also a second file for nstid.  Returns 0 or a negative errno.  Release `times` in either
 * case.
 */
int thread_times_read(const struct procfs *proc, pid_t pid, bool namespaced,
		      struct thread_times *times) _must_check_;
/*
 * Like thread_times_read(), but for a thread that `before` contains, takes nstid from `before`, and
 * so reads only one file.  `before` is an earlier reading of the same process; NULL: none.
 */
int thread_times_read_after(const struct procfs *proc, pid_t pid, bool namespaced,
			    const struct thread_times *before, struct thread_times *times)
	_must_check_;
/* Returns the element of `times` for the thread with this nstid; NULL if there is none. */
const struct thread_time *thread_times_find(const struct thread_times *times, int64_t nstid);
void thread_times_release(struct thread_times *times);

#endif
