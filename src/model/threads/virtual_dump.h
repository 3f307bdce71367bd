/*
 * Parses the dump that Thread.dump_to_file -format=json writes (JDK 21 and later,
 * jdk.internal.vm.ThreadDumper).  The dump has all virtual threads, and is untrusted text.  Does
 * no I/O.
 *
 * JDK 21 to 24 write names and stacks only; later releases also write states, carriers and locks.
 */
#ifndef JTOOL_MODEL_THREADS_VIRTUAL_DUMP_H
#define JTOOL_MODEL_THREADS_VIRTUAL_DUMP_H

#include "model/threads/thread_dump.h"

/*
 * Adds the virtual and platform threads of the document to the empty `d`.  If the document is
 * malformed, d->complete is false, and `d` has the threads before the error.
 */
void virtual_dump_parse(struct thread_dump *d, const char *text, size_t len);

/*
 * Copies information from `print`, a dump by Thread.print, to `d`: the kernel's ids of platform
 * threads, and which virtual thread runs on which platform thread.  The documents of JDK 21 to 24
 * do not say which threads are virtual; so a thread that `print` does not have is marked as
 * virtual, unless its stack is that of a platform thread.
 */
void virtual_dump_join(struct thread_dump *d, const struct thread_dump *print);

#endif
