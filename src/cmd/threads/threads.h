/* Declarations shared by the files of the command threads. */
#ifndef JTOOL_CMD_THREADS_THREADS_H
#define JTOOL_CMD_THREADS_THREADS_H

#include "cli/command.h"
#include "model/threads/thread_dump.h"

struct threads_opts {
	bool raw, locks, extended, stack, group, deadlocks, blocked, virtual;
	unsigned samples, limit;
	const char *state, *filter;
};

#define THREADS_DUMP_MAX (1u << 30) /* limit for a dump in bytes */

/*
 * A thread dump, with the CPU times of its threads.  Zero-initialise it, and release it also after
 * an error.
 */
struct threads_sample {
	struct buf text; /* the text that the JVM has written */
	struct thread_dump dump;
};
void threads_sample_release(struct threads_sample *s);

/*
 * Takes a dump.  With --blocked, the dump has the owners of java.util.concurrent locks; the JVM
 * walks its heap to find them.  With --deadlocks, the dump does not have these owners.  With
 * neither option, the dump has them if threads wait for such locks and the heap is small.
 */
int threads_take_dump(const struct ctx *ctx, struct threads_sample *s, struct err *err)
	_must_check_;
/* Reads the CPU times, takes a dump, and reads the CPU times again 1 s after the first reading. */
int threads_measure(const struct ctx *ctx, struct threads_sample *s, struct err *err) _must_check_;
/* Waits until monotonic_ns() returns at_ns or more. */
void threads_wait_until(int64_t at_ns);

/*
 * Takes a dump of all threads, including virtual ones, with the diagnostic command
 * Thread.dump_to_file.
 */
int threads_take_virtual(const struct ctx *ctx, struct threads_sample *s, struct err *err)
	_must_check_;

/* Returns the number of thread dumps in an archive of `jtool capture`: 0 to 3; -1 with err set. */
int threads_file_count(const char *path, struct err *err) _must_check_;
/*
 * Reads dump `number` (1 to 3) from an archive of `jtool capture`, with the CPU times in the
 * archive's threads.json.
 */
int threads_file_take(const char *path, unsigned number, struct threads_sample *s,
		      struct err *err) _must_check_;
/* Reads threads-virtual.json from an archive of `jtool capture`. */
int threads_file_take_virtual(const char *path, struct threads_sample *s, struct err *err)
	_must_check_;

/* Prints the thread dump of the JVM unchanged. */
int threads_print_raw(const struct ctx *ctx, struct err *err) _must_check_;

#endif
