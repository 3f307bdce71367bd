/*
 * The threads of a process over time: their share of the CPU between two readings of the kernel's
 * counters, and their names from a thread dump, which is rarely requested.  Does no I/O.
 */
#ifndef JTOOL_MODEL_TOP_TOP_THREADS_H
#define JTOOL_MODEL_TOP_TOP_THREADS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/threads/thread_dump.h"
#include "model/top/top_sort.h"

/* A thread in one reading of the kernel's counters. */
struct thread_reading {
	int64_t tid;          /* the kernel's thread id, in the process's pid namespace */
	uint64_t start_ticks; /* start time; distinguishes two threads that had the same tid */
	double cpu_s;
	char state;           /* R S D T …, as in /proc/PID/task/TID/stat */
	char comm[16];        /* the beginning of the thread's name, from the kernel */
};

struct top_thread {
	int64_t tid;
	uint64_t start_ticks;
	char *name;         /* NULL: only comm is known */
	char comm[16];
	int64_t id;         /* Thread.threadId(); -1: unknown, or not a Java thread */
	bool daemon;
	/* a dump was requested after the thread's start, so another dump would add nothing */
	bool is_asked;
	unsigned readings;  /* number of readings that have the thread */
	double cpu_s, cpu_percent; /* cpu_percent is -1 while the thread was in only one reading */
	char state;
};

struct top_threads {
	struct top_thread *list; /* in ascending order of tid */
	size_t n;
	bool is_later; /* the next reading is not the first */
};

/*
 * Takes the n readings of all threads, in ascending order of tid, which were made `seconds` after
 * the readings of the previous call.  Adds new threads and removes those that have ended.
 */
void top_threads_update(struct top_threads *t, const struct thread_reading *readings, size_t n,
			double seconds);
void top_threads_release(struct top_threads *t);

/*
 * Returns whether a dump is needed for the name of a thread: a thread was in two readings, and no
 * dump was requested since the thread's start.  A thread that was in only one reading is not worth
 * the pause of a dump.
 */
bool top_threads_are_unknown(const struct top_threads *t);
/*
 * Call this when a thread dump is requested: sets `is_asked` of all threads, because threads that
 * start later are not in that dump.
 */
void top_threads_ask(struct top_threads *t);
/* Sets the names and ids of the threads that are in the dump. */
void top_threads_name(struct top_threads *t, const struct thread_dump *dump);

/*
 * Returns the thread's name.  If the name is unknown, returns `comm`: the beginning of the name,
 * from the kernel.
 */
const char *top_thread_name(const struct top_thread *t);
/* Returns a word for the thread's state in the kernel: "running", "sleeping", …. */
const char *top_thread_state(const struct top_thread *t);
/* Returns whether top_thread_state() returns `name` for some state, in upper or lower case. */
bool top_thread_is_state(const char *name);

struct top_filter {
	const char *glob, *state; /* NULL: no filter */
	enum top_sort sort;
	bool reverse;
};

/*
 * Returns the indices of the threads that match `filter`, sorted as `filter` says, and their number
 * in *n.  The caller frees the array.
 */
size_t *top_threads_choose(const struct top_threads *t, const struct top_filter *filter,
			   size_t *n);

#endif
