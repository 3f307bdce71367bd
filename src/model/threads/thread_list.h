/* The functions with which the parsers of thread dumps build the list of threads.  No I/O. */
#ifndef JTOOL_MODEL_THREADS_THREAD_LIST_H
#define JTOOL_MODEL_THREADS_THREAD_LIST_H

#include "base/strview.h"
#include "model/threads/thread_dump.h"

/* Adds a thread with this name and nothing else.  Takes ownership of the name. */
struct dump_thread *thread_list_add(struct thread_dump *d, char *name);
/* Adds a stack frame.  Takes ownership of its text. */
void thread_list_add_frame(struct dump_thread *t, char *frame);
/*
 * Returns a number that is equal for equal locks: the lock's address; or, if only the identity hash
 * code is known, a hash of the lock's class and of that code.
 */
uint64_t thread_lock_id(const struct thread_lock *lock);
/* Adds a lock that the thread holds.  Takes ownership of lock.class. */
void thread_list_add_hold(struct dump_thread *t, struct thread_lock lock);
/*
 * Sets the lock that the thread waits for.  Ignores `lock` if a lock to wait for was set before.
 * Takes ownership of lock.class in both cases.
 */
void thread_list_add_wait(struct dump_thread *t, enum thread_wait wait, struct thread_lock lock);

/* Parses the text after the list of threads: the JVM's report of deadlocks. */
void deadlock_report_parse(struct thread_dump *d, struct strview report);
/* Stores a copy of a line whose form is unknown, so that it is not lost. */
void thread_dump_add_unknown(struct thread_dump *d, struct strview line);

#endif
