/* Builds the threads of a dump; for its parsers.  Pure. */
#ifndef JTOOL_MODEL_THREADS_THREAD_LIST_H
#define JTOOL_MODEL_THREADS_THREAD_LIST_H

#include "base/strview.h"
#include "model/threads/thread_dump.h"

/* Adds a thread of which nothing else is known.  Takes the name. */
struct dump_thread *thread_list_add(struct thread_dump *d, char *name);
/* Takes the text. */
void thread_list_add_frame(struct dump_thread *t, char *frame);
/* Takes the lock. */
void thread_list_add_hold(struct dump_thread *t, struct thread_lock lock);
/* Sets what the thread waits for, unless it is known.  Takes the lock. */
void thread_list_add_wait(struct dump_thread *t, enum thread_wait wait, struct thread_lock lock);

/* Parses what follows the list of threads: the JVM's report of deadlocks. */
void deadlock_report_parse(struct thread_dump *d, struct strview report);
/* Keeps a line of unknown form, so that it is not lost. */
void thread_dump_add_unknown(struct thread_dump *d, struct strview line);

#endif
