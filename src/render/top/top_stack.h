/* The stack of one thread in a thread dump, as lines of text.  Does no I/O. */
#ifndef JTOOL_RENDER_TOP_TOP_STACK_H
#define JTOOL_RENDER_TOP_TOP_STACK_H

#include "base/buf.h"
#include "model/threads/thread_dump.h"

/*
 * Appends state, lock and frames of the thread with this tid, and of the virtual thread that it
 * runs.  If the dump does not have the thread, appends a line that says so.  The caller must have
 * called thread_dump_link() for the dump.
 */
void top_stack_add(const struct thread_dump *dump, int64_t tid, struct buf *out);

#endif
