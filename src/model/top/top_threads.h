/*
 * The threads of a process over time: their share of the CPU between two readings of the kernel's
 * times, and their names from a thread dump, which is taken rarely.  Pure.
 */
#ifndef JTOOL_MODEL_TOP_TOP_THREADS_H
#define JTOOL_MODEL_TOP_TOP_THREADS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/threads/thread_dump.h"
#include "model/top/top_sort.h"

/* A thread in one reading. */
struct thread_reading {
	int64_t tid;          /* of the kernel, in the process's pid namespace */
	uint64_t start_ticks; /* distinguishes reused tids */
	double cpu_s;
	char state;           /* R S D T … */
	char comm[16];        /* the beginning of its name, by the kernel */
};

struct top_thread {
	int64_t tid;
	uint64_t start_ticks;
	char *name;         /* NULL: only comm is known */
	char comm[16];
	int64_t id;         /* Thread.threadId(); -1: not known, or not a Java thread */
	bool daemon;
	bool is_asked;      /* a dump was taken since it began: nothing more can be known */
	unsigned readings;  /* in which it was */
	double cpu_s, cpu_percent; /* cpu_percent -1: in one reading only so far */
	char state;
};

struct top_threads {
	struct top_thread *list; /* in ascending order of tid */
	size_t n;
	bool is_later; /* there was a reading before */
};

/*
 * Takes a reading, in ascending order of tid, `seconds` after the last one: adds and removes
 * threads.
 */
void top_threads_update(struct top_threads *t, const struct thread_reading *readings, size_t n,
			double seconds);
void top_threads_release(struct top_threads *t);

/*
 * Returns whether a dump would name threads: any that was in two readings and that no dump has
 * been asked for.  Threads that live shorter are not worth a pause.
 */
bool top_threads_are_unknown(const struct top_threads *t);
/* Call it when a dump is requested: threads that begin later are not in it. */
void top_threads_ask(struct top_threads *t);
/* Takes the names of a dump. */
void top_threads_name(struct top_threads *t, const struct thread_dump *dump);

/* Returns the name, or what the kernel has of it. */
const char *top_thread_name(const struct top_thread *t);
/* Returns "running", "sleeping", …: the state in the kernel. */
const char *top_thread_state(const struct top_thread *t);
/* Returns whether it returns this word for some thread, in upper or lower case. */
bool top_thread_is_state(const char *name);

struct top_filter {
	const char *glob, *state; /* NULL: all */
	enum top_sort sort;
	bool reverse;
};

/* Returns the indexes of the threads that match, in their order; the caller frees them. */
size_t *top_threads_choose(const struct top_threads *t, const struct top_filter *filter,
			   size_t *n);

#endif
