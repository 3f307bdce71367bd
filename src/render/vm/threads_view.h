/*
 * The output of `jtool threads`, as text or JSON: a row for each thread, stacks, groups of threads
 * with the same stack, deadlocks, and trees of waiting threads.
 */
#ifndef JTOOL_RENDER_VM_THREADS_VIEW_H
#define JTOOL_RENDER_VM_THREADS_VIEW_H

#include <stdio.h>

#include "model/threads/thread_dump.h"
#include "render/json.h"

struct threads_view {
	int pid;          /* -1: unknown */
	const char *file; /* the file from which the dump was read; NULL: it is from a JVM */
	bool virtual;     /* the threads in `rows` are virtual threads */
	const struct thread_dump *dump;
	const size_t *rows; /* indexes of the threads that are shown, in the order of the output */
	size_t n;
	unsigned limit; /* value of the option -n, --limit (OPT_LIMIT) */
	bool stack;     /* in text, the stack of each thread is below the thread's row */
};

/* Prints a line for each thread and, if v->stack is set, the thread's stack below the line. */
void threads_view_print(const struct threads_view *v, FILE *out);
/* Prints a row for each different stack, with the number of threads that have it. */
void threads_view_print_groups(const struct threads_view *v, FILE *out);
/*
 * Prints each deadlock: for each thread in the deadlock, the lock for which the thread waits, the
 * owner of that lock, and the thread's stack.
 */
void threads_view_print_deadlocks(const struct threads_view *v, FILE *out);
/*
 * Prints trees of threads, the largest tree first.  The threads that wait for a thread are below
 * that thread.
 */
void threads_view_print_blocked(const struct threads_view *v, FILE *out);

/* Prints the JSON document {"pid","deadlocks","unknown","threads"}. */
void threads_view_print_json(const struct threads_view *v, FILE *out);
/* Returns the JSON document {"pid","groups"}.  The caller frees it. */
struct json *threads_view_groups_json(const struct threads_view *v);

/*
 * For the threads_*.c files: appends the address of the lock; or, if lock->is_hash is true, the
 * hash code of the lock as "@HASH".
 */
void threads_view_add_object(struct buf *out, const struct thread_lock *lock);
/* For the threads_*.c files: adds the member "pid", and "file" if the dump is from a file. */
void threads_view_put_source(const struct threads_view *v, struct json *json);

#endif
