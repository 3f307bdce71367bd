/*
 * Forwards what a writer writes into a FIFO, in a child process (detached_child.h).
 *
 * The writer may be a JVM that is paused until the FIFO is drained.  The child therefore reads at
 * once, even while jtool is stopped by a signal or by its terminal.  The kernel kills the child
 * when jtool is killed.
 *
 * In the functions below, `from` is the FIFO's read end with O_NONBLOCK.  The data ends when all
 * writers have closed the FIFO, or when the pipe `end` hangs up and the FIFO is empty: without that
 * pipe, a relay could not know that no writer will ever open the FIFO.
 */
#ifndef JTOOL_FILEIO_FIFO_RELAY_H
#define JTOOL_FILEIO_FIFO_RELAY_H

#include <stdint.h>
#include <sys/types.h>

#include "base/util.h"

/*
 * A function that checks all data, in order and in pieces of any size, before the data is written.
 * It returns 0 to go on, or a negative errno.  The child calls it.
 */
struct fifo_relay_check {
	int (*take)(void *arg, const void *data, size_t len);
	void *arg;
};

/*
 * Writes all data to the regular file `to`, at its position.  `progress` names the data in the
 * progress line; NULL: no line.  `ms` is the longest time from the first byte to the last; 0: no
 * limit.  `check` may be NULL.  Returns 0; -ETIMEDOUT; -DISK_ROOM_FULL if too little space would
 * stay free (disk_room.h); the error of the check; or another negative errno.  After an error, the
 * writer may still be writing.
 */
int fifo_relay_to_file(int from, int to, int end, const char *progress, unsigned ms,
		       const struct fifo_relay_check *check) _must_check_;

/* Forwards the data through memory, for a reader that may be slower than the writer. */
struct fifo_relay {
	int out; /* read end of the pipe with the data; it hangs up after the last byte */
	pid_t child;
};

struct fifo_relay_limits {
	size_t bytes; /* limit for the data that is buffered in memory */
	/*
	 * 0: the relay fails when the buffer is full.  Another value: while the buffer is full, the
	 * writer has to wait, and the relay fails if the reader takes nothing for this many ms.
	 */
	unsigned stall_ms;
	unsigned ms;  /* the longest time from the first byte to the last; 0: no limit */
};

/*
 * Starts the relay.  Returns 0 or a negative errno.  The caller must close `from`, or the writer
 * never gets EPIPE.
 *
 * The writer gets EPIPE when a limit is exceeded or `out` is closed.  But as long as the FIFO has a
 * name, a helper process holds the FIFO open for reading (staged_file.h), so the writer would block
 * instead of getting EPIPE.  The relay therefore reads and discards data until the name is removed.
 */
int fifo_relay_start(struct fifo_relay *r, int from, int end,
		     const struct fifo_relay_limits *limits) _must_check_;

/*
 * Closes `out` and waits for the child.  Returns 0 if all data was forwarded, -EFBIG if
 * limits.bytes was exceeded, -ENOBUFS if the reader took nothing for limits.stall_ms while the
 * writer had to wait, -ETIMEDOUT if limits.ms was exceeded, or another negative errno.
 */
int fifo_relay_end(struct fifo_relay *r) _must_check_;

#endif
