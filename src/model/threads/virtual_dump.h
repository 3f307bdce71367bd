/*
 * The dump of Thread.dump_to_file -format=json (JDK 21 and later, jdk.internal.vm.ThreadDumper),
 * which has all virtual threads: untrusted text.  Pure.
 *
 * JDK 21 to 24 write names and stacks only; later ones also states, carriers and locks.
 */
#ifndef JTOOL_MODEL_THREADS_VIRTUAL_DUMP_H
#define JTOOL_MODEL_THREADS_VIRTUAL_DUMP_H

#include "model/threads/thread_dump.h"

/*
 * Parses the document into empty `d`, platform threads included.  If it is malformed, `complete`
 * is false and the threads before that are there.
 */
void virtual_dump_parse(struct thread_dump *d, const char *text, size_t len);

/*
 * Adds what Thread.print reports: the kernel's numbers of the platform threads, which thread runs
 * on which, and, for JDK 21 to 24, what is virtual.  A thread that is not in `print` is.
 */
void virtual_dump_join(struct thread_dump *d, const struct thread_dump *print);

#endif
