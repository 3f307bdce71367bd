/*
 * A relay: a child process of jtool (detached_child.h) that reads what a writer writes into a FIFO,
 * and forwards it.
 *
 * A child is needed because the writer may be a JVM that is paused until the FIFO is drained: the
 * child goes on even while a signal or the terminal has stopped jtool.  The kernel kills the child
 * when jtool is killed.
 *
 * In the functions below, `from` is the FIFO's read end with O_NONBLOCK.  The data ends when all
 * writers have closed the FIFO.  If no writer opens the FIFO, the relay cannot detect this from the
 * FIFO; so the data also ends when the pipe `end` hangs up and the FIFO is empty.
 */
#ifndef JTOOL_FILEIO_FIFO_RELAY_H
#define JTOOL_FILEIO_FIFO_RELAY_H

#include <stdint.h>
#include <sys/types.h>

#include "base/util.h"

/*
 * A function `take` that the child calls with all data, in order and in pieces of any size, before
 * it writes the data.  The function checks the data; it returns 0 to go on, or a negative errno.
 */
struct fifo_relay_check {
	int (*take)(void *arg, const void *data, size_t len);
	void *arg;
};

/*
 * Writes all data to the regular file `to`, from the file's current position on.  `progress` is the
 * name of the data in the progress line; NULL: no progress line.  `ms` is the maximum time from the
 * first byte to the last; 0: no limit.  `check` may be NULL.  Returns:
 * - 0 if all data was written;
 * - -ETIMEDOUT if `ms` was exceeded;
 * - -DISK_ROOM_FULL if too little disk space would stay free (disk_room.h);
 * - the error of check->take();
 * - another negative errno.
 * After an error, the writer of the FIFO may still be writing.
 */
int fifo_relay_to_file(int from, int to, int end, const char *progress, unsigned ms,
		       const struct fifo_relay_check *check) _must_check_;

/* A relay that buffers the data in memory, for a reader that may be slower than the writer. */
struct fifo_relay {
	int out; /* read end of a pipe; the reader reads the data here until end of file */
	pid_t child;
};

struct fifo_relay_limits {
	size_t bytes; /* size of the buffer in memory */
	/*
	 * 0: the relay fails when the buffer is full.  Another value: when the buffer is full, the
	 * writer has to wait; the relay fails if the reader then takes nothing for this many ms.
	 */
	unsigned stall_ms;
	unsigned ms;  /* maximum time from the first byte to the last; 0: no limit */
};

/*
 * Starts the relay.  Returns 0 or a negative errno.  The caller must close its descriptor `from`
 * afterwards, because the writer gets EPIPE only when nobody has the FIFO open for reading.
 *
 * When a limit is exceeded or `out` is closed, the relay stops forwarding, and the writer gets
 * EPIPE.  But as long as the FIFO has a name, a helper process holds the FIFO open for reading
 * (staged_file.h), so the writer would block instead.  Until the name is removed, the relay
 * therefore reads the data and discards it.
 */
int fifo_relay_start(struct fifo_relay *r, int from, int end,
		     const struct fifo_relay_limits *limits) _must_check_;

/*
 * Closes `out` and waits for the child.  Returns:
 * - 0 if all data was forwarded;
 * - -EFBIG if the buffer was full and limits.stall_ms is 0;
 * - -ENOBUFS if the buffer was full and the reader took nothing for limits.stall_ms;
 * - -ETIMEDOUT if limits.ms was exceeded;
 * - -ECANCELED if the child was killed;
 * - another negative errno.
 */
int fifo_relay_end(struct fifo_relay *r) _must_check_;

#endif
