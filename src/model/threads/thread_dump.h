/*
 * A thread dump of HotSpot, as Thread.print -l -e prints it on JDK 8 to 27 (vmOperations.cpp,
 * threads.cpp, vframe.cpp): untrusted text.  Pure.
 */
#ifndef JTOOL_MODEL_THREADS_THREAD_DUMP_H
#define JTOOL_MODEL_THREADS_THREAD_DUMP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

enum thread_wait {
	THREAD_WAITS_NOT,
	THREAD_WAITS_FOR_MONITOR, /* to enter, or to enter again after Object.wait() */
	THREAD_WAITS_FOR_NOTIFY,  /* in Object.wait() */
	THREAD_WAITS_PARKED,      /* in LockSupport.park() with a blocker object */
};

struct thread_lock {
	uint64_t object; /* address of the monitor's object, or of the synchronizer; 0: not known */
	char *class;     /* NULL: not known */
	bool is_hash;    /* `object` is its identity hash code: Thread.dump_to_file */
};

#define NO_THREAD SIZE_MAX

struct dump_thread {
	char *name;
	int64_t id;        /* Thread.threadId(); -1: a thread of the JVM itself */
	int64_t tid;       /* of the kernel, in the JVM's pid namespace; -1: not known */
	bool daemon, virtual;
	char *state;       /* RUNNABLE, BLOCKED, …; of a thread of the JVM: "runnable", … */
	double cpu_s;      /* CPU time; -1: not known (before JDK 11) */
	double cpu_percent; /* of one CPU, while it was measured; -1: not known */
	int64_t allocated; /* bytes; -1: not known */
	int64_t carries;   /* the id of the virtual thread that runs on it; -1: none */
	int64_t carrier;   /* of a virtual thread: the id of the thread that runs it; -1: none */
	int64_t owner_id;  /* the id of the owner, if the dump has it; -1 */
	enum thread_wait wait;
	struct thread_lock waits_for;
	struct thread_lock *holds; /* monitors, and synchronizers if the dump has them (-l) */
	size_t n_holds, cap_holds;
	char **frames;     /* "a.b.C.m(C.java:12)", the innermost first */
	size_t n_frames, cap_frames;
	size_t owner;      /* index of the thread that holds waits_for, or NO_THREAD */
	size_t n_waiting;  /* how many threads wait for this one, directly or not */
	size_t ring;       /* 1, 2, …: the deadlock it is part of; 0: none */
};

/* `"A": waiting to lock monitor …, which is held by "B"` */
struct thread_claim {
	char *name, *owner; /* owner: NULL if the report ends before it */
	uint64_t object;
};

struct thread_dump {
	struct dump_thread *threads;
	size_t n, cap;
	struct thread_claim *claims; /* of the JVM's own report of deadlocks */
	size_t n_claims, cap_claims;
	size_t n_rings;  /* deadlocks */
	bool complete;   /* the end of the list of threads was seen */
	bool has_synchronizers; /* it was made with -l */
	struct buf unknown; /* the lines that have no known form */
};

/* Parses a dump into empty `d`. */
void thread_dump_parse(struct thread_dump *d, const char *text, size_t len);
void thread_dump_release(struct thread_dump *d);

/* Adds a thread that the dump does not have, such as one of a native library. */
struct dump_thread *thread_dump_add(struct thread_dump *d, const char *name, int64_t tid);

/* Returns whether two threads have the same state and the same frames. */
bool dump_thread_same_stack(const struct dump_thread *a, const struct dump_thread *b);

/*
 * Returns how many threads wait for a ReentrantLock, or a lock of its kind, whose owner neither
 * the dump nor the JVM's report of deadlocks has.  For a dump without -l.
 */
size_t thread_dump_count_unowned(const struct thread_dump *d);

/*
 * Finds the owners of what threads wait for, the deadlocks, and how many threads wait for each.
 * Every dump has the owners of monitors; those of java.util.concurrent locks are in a dump with -l,
 * and in the JVM's report of deadlocks.
 */
void thread_dump_link(struct thread_dump *d);

#endif
