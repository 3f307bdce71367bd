/*
 * Parses a thread dump of HotSpot, as JDK 8 to 27 print it for Thread.print -l -e
 * (vmOperations.cpp, threads.cpp, vframe.cpp).  The text of the dump is untrusted.  Does no I/O.
 */
#ifndef JTOOL_MODEL_THREADS_THREAD_DUMP_H
#define JTOOL_MODEL_THREADS_THREAD_DUMP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/id_map.h"

enum thread_wait {
	THREAD_WAITS_NOT,
	/* The thread waits to enter a monitor, or to enter it again after Object.wait() */
	THREAD_WAITS_FOR_MONITOR,
	THREAD_WAITS_FOR_NOTIFY,  /* the thread is in Object.wait() */
	THREAD_WAITS_PARKED,      /* the thread is in LockSupport.park() with a blocker object */
};

struct thread_lock {
	uint64_t object; /* address of the monitor's object or of the synchronizer; 0: unknown */
	char *class;     /* NULL: not known */
	bool is_hash;    /* `object` is an identity hash code, in a dump by Thread.dump_to_file */
};

#define NO_THREAD SIZE_MAX

struct dump_thread {
	char *name;        /* "": the dump does not have the name */
	int64_t id;        /* Thread.threadId(); -1: a thread of the JVM itself, which has none */
	int64_t tid;       /* the kernel's thread id in the JVM's pid namespace; -1: unknown */
	bool daemon, virtual;
	char *state;       /* RUNNABLE, BLOCKED, …; for a thread of the JVM itself "runnable", … */
	double cpu_s;      /* CPU time in seconds; -1: unknown (before JDK 11) */
	double cpu_percent; /* share of one CPU in a measured interval; -1: unknown */
	int64_t allocated; /* bytes; -1: not known */
	int64_t carries;   /* id of the virtual thread that runs on this thread; -1: none */
	int64_t carrier;   /* id of the thread on which this virtual thread runs; -1: none */
	int64_t owner_id;  /* id of the thread that holds the lock `waits_for`; -1: unknown */
	enum thread_wait wait;
	struct thread_lock waits_for;
	/* monitors that the thread holds; in a dump with -l, also synchronizers */
	struct thread_lock *holds;
	size_t n_holds, cap_holds;
	struct id_map held; /* ids of the locks in `holds`; empty if these are few */
	char **frames;     /* "a.b.C.m(C.java:12)", the innermost frame first */
	size_t n_frames, cap_frames;
	size_t owner;      /* index of the thread that holds the lock `waits_for`; or NO_THREAD */
	size_t n_waiting;  /* number of threads that wait for this thread, directly or indirectly */
	size_t ring;       /* number of the deadlock that the thread is part of, from 1; 0: none */
};

/*
 * An entry in the JVM's report of deadlocks: `"A": waiting to lock monitor …, which is held by
 * "B"`.
 */
struct thread_claim {
	char *name, *owner; /* owner: NULL if the report is cut off before it */
	uint64_t object;
};

struct thread_dump {
	struct dump_thread *threads;
	size_t n, cap;
	struct thread_claim *claims; /* entries of the JVM's report of deadlocks */
	size_t n_claims, cap_claims;
	size_t n_rings;  /* number of deadlocks */
	bool complete;   /* the dump has the end of the list of threads */
	/* ownable synchronizers are listed: a dump by Thread.print -l or Thread.dump_to_file */
	bool has_synchronizers;
	struct buf unknown; /* the lines whose form is unknown */
};

/* Parses the text of a dump into the empty `d`. */
void thread_dump_parse(struct thread_dump *d, const char *text, size_t len);
void thread_dump_release(struct thread_dump *d);

/* Adds a thread that the dump does not have, such as one of a native library.  Copies the name. */
struct dump_thread *thread_dump_add(struct thread_dump *d, const char *name, int64_t tid);
/*
 * Sets t->name to a copy of `name`, unless the thread has a name already or is virtual.
 */
void dump_thread_name(struct dump_thread *t, const char *name);

/* Returns whether two threads have the same state and the same stack frames. */
bool dump_thread_same_stack(const struct dump_thread *a, const struct dump_thread *b);

/*
 * Returns how many threads wait for a java.util.concurrent lock whose owner is neither in the dump
 * nor in the JVM's report of deadlocks.  Use it for a dump without -l.
 */
size_t thread_dump_count_unowned(const struct thread_dump *d);

/*
 * Finds the owners of the locks for which threads wait, the deadlocks, and the number of threads
 * that wait for each thread.  Every dump by Thread.print has the owners of monitors.  The owners of
 * java.util.concurrent locks are in a dump with -l, in the JVM's report of deadlocks, and in a dump
 * by Thread.dump_to_file if the JDK writes locks there (virtual_dump.h).
 */
void thread_dump_link(struct thread_dump *d);

#endif
