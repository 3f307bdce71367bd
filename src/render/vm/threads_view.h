/* The output of `threads`: rows, stacks, groups, deadlocks and waiting threads, as text or JSON. */
#ifndef JTOOL_RENDER_VM_THREADS_VIEW_H
#define JTOOL_RENDER_VM_THREADS_VIEW_H

#include <stdio.h>

#include "model/threads/thread_dump.h"
#include "render/json.h"

struct threads_view {
	int pid;          /* -1: not known */
	const char *file; /* that the dump is from; NULL: a JVM */
	bool virtual;     /* the rows are virtual threads */
	const struct thread_dump *dump;
	const size_t *rows; /* indexes of the threads that are shown, in their order */
	size_t n;
	unsigned limit; /* the value of an OPT_LIMIT */
	bool stack;     /* text has the stacks, too */
};

/* Prints a line for each thread, or with its stack below. */
void threads_view_print(const struct threads_view *v, FILE *out);
/* Prints a row for each stack, with the threads that have it. */
void threads_view_print_groups(const struct threads_view *v, FILE *out);
/* Prints each deadlock: for each thread its lock, the owner, and the stack. */
void threads_view_print_deadlocks(const struct threads_view *v, FILE *out);
/*
 * Prints waiting threads below the threads that they wait for, as trees; the largest tree comes
 * first.
 */
void threads_view_print_blocked(const struct threads_view *v, FILE *out);

/* Return documents, which the caller frees: {"pid","threads","deadlocks"}, {"pid","groups"}. */
struct json *threads_view_json(const struct threads_view *v);
struct json *threads_view_groups_json(const struct threads_view *v);

/* For the files of this view: appends an address, or @HASH. */
void threads_view_add_object(struct buf *out, const struct thread_lock *lock);
/* … adds "pid", and "file" of an archive. */
void threads_view_put_source(const struct threads_view *v, struct json *json);

#endif
