/* Shared by the files of the command threads. */
#ifndef JTOOL_CMD_THREADS_THREADS_H
#define JTOOL_CMD_THREADS_THREADS_H

#include "cli/command.h"
#include "model/threads/thread_dump.h"

struct threads_opts {
	bool raw, locks, extended, stack, group, deadlocks, blocked, virtual;
	unsigned samples, limit;
	const char *state, *filter;
};

#define THREADS_DUMP_MAX (1u << 30) /* bytes of a dump */

/* A thread dump and the CPU times around it.  Zero-initialised; release it in any case. */
struct threads_sample {
	struct buf text; /* as the JVM wrote it */
	struct thread_dump dump;
};
void threads_sample_release(struct threads_sample *s);

/*
 * Takes a dump.  Asks for the owners of java.util.concurrent locks with --blocked, and if threads
 * wait for such locks and the heap, which the JVM walks for that, is small.
 */
int threads_take_dump(const struct ctx *ctx, struct threads_sample *s, struct err *err)
	_must_check_;
/* Takes a dump between two readings of the CPU times, a second apart. */
int threads_measure(const struct ctx *ctx, struct threads_sample *s, struct err *err) _must_check_;
/* Waits until this time of monotonic_ns(). */
void threads_wait_until(int64_t at_ns);

/* Takes a dump of all threads, with the virtual ones, by Thread.dump_to_file. */
int threads_take_virtual(const struct ctx *ctx, struct threads_sample *s, struct err *err)
	_must_check_;

/* Returns how many thread dumps the archive of a capture has: 0 to 3. */
unsigned threads_file_count(const char *path);
/* Reads dump 1, 2 or 3, with the CPU times of threads.json. */
int threads_file_take(const char *path, unsigned number, struct threads_sample *s,
		      struct err *err) _must_check_;
/* Reads threads-virtual.json. */
int threads_file_take_virtual(const char *path, struct threads_sample *s, struct err *err)
	_must_check_;

/* Prints the thread dump of the JVM, byte for byte. */
int threads_print_raw(const struct ctx *ctx, struct err *err) _must_check_;

#endif
