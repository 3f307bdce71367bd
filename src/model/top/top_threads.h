/*
 * The threads of a process over time.  Each thread's CPU share is computed from two readings of the
 * kernel's counters.  The threads' names are from thread dumps, which are requested rarely, because
 * a dump pauses the JVM.  The functions do no I/O.
 */
#ifndef JTOOL_MODEL_TOP_TOP_THREADS_H
#define JTOOL_MODEL_TOP_TOP_THREADS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/threads/thread_dump.h"
#include "model/top/top_sort.h"

/* The kernel's counters of one thread, as they were in one reading. */
struct thread_reading {
	int64_t tid;          /* the kernel's thread id, in the process's pid namespace */
	uint64_t start_ticks; /* start time; distinguishes two threads that had the same tid */
	double cpu_s;
	char state;           /* R S D T …, as in /proc/PID/task/TID/stat */
	char comm[16];        /* the beginning of the thread's name, as the kernel has it */
};

struct top_thread {
	int64_t tid;
	uint64_t start_ticks;
	char *name;         /* NULL: only comm is known */
	char comm[16];
	int64_t id;         /* Thread.threadId(); -1: unknown, or not a Java thread */
	bool daemon;
	/* a dump was requested after the thread's start, so another dump is not needed for it */
	bool is_asked;
	unsigned readings;  /* number of readings that contain the thread */
	double cpu_s, cpu_percent; /* cpu_percent: -1 if the process was read only once */
	char state;
};

struct top_threads {
	struct top_thread *list; /* in ascending order of tid */
	size_t n;
	bool is_later; /* top_threads_update() was called before, so CPU shares can be computed */
};

/*
 * Takes a reading of the process: the counters of all its n threads, in ascending order of tid.
 * The reading was made `seconds` after that of the previous call.  Adds new threads, and removes
 * threads that have ended.
 */
void top_threads_update(struct top_threads *t, const struct thread_reading *readings, size_t n,
			double seconds);
void top_threads_release(struct top_threads *t);

/*
 * Returns true if a dump is needed for the name of some thread: a thread that was in two readings,
 * and for which no dump was requested after its start.  A thread that was in only one reading is
 * not worth the pause of a dump.
 */
bool top_threads_are_unknown(const struct top_threads *t);
/*
 * Call this function when a thread dump is requested.  It sets `is_asked` of all threads that are
 * known now.  Threads that start later keep false, because they may not be in that dump.
 */
void top_threads_ask(struct top_threads *t);
/* Sets the name, the id and `daemon` of each thread that is in the dump. */
void top_threads_name(struct top_threads *t, const struct thread_dump *dump);

/*
 * Returns the thread's name from a thread dump.  If that name is unknown, returns `comm`, which is
 * the beginning of the name, as the kernel has it.
 */
const char *top_thread_name(const struct top_thread *t);
/* Returns a word for the thread's state in the kernel: "running", "sleeping", …. */
const char *top_thread_state(const struct top_thread *t);
/* Returns true if `name`, in any case, is a word that top_thread_state() can return. */
bool top_thread_is_state(const char *name);

struct top_filter {
	const char *glob, *state; /* NULL: no filter */
	enum top_sort sort;
	bool reverse;
};

/*
 * Returns an array with the indices of the threads that match `filter`, sorted as `filter` says.
 * Stores the number of indices in *n.  The caller frees the array.
 */
size_t *top_threads_choose(const struct top_threads *t, const struct top_filter *filter,
			   size_t *n);

#endif
