/*
 * Reading and writing descriptors to an end and within a time.
 *
 * Times are CLOCK_MONOTONIC.  Functions return 0 or more, or a negative errno; -ETIMEDOUT when
 * the deadline came first.  EINTR is never seen outside.
 */
#ifndef JTOOL_BASE_IO_H
#define JTOOL_BASE_IO_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/buf.h"
#include "base/util.h"

/* A moment by which something must have happened. */
struct deadline {
	int64_t at_ns;
};
#define IO_NO_DEADLINE ((struct deadline){ INT64_MAX })

int64_t io_now_ns(void);
struct deadline deadline_in_ms(unsigned ms);
/* Milliseconds left, rounded up; 0 when it has passed. */
int deadline_left_ms(struct deadline d);
bool deadline_passed(struct deadline d);

/* Wait until fd has one of `events` (POLLIN, …) or is closed or in error.  0, or -ETIMEDOUT. */
int io_wait(int fd, short events, struct deadline d) _must_check_;

/* Read once: the number of bytes, 0 at the end. */
ssize_t io_read(int fd, void *data, size_t len) _must_check_;
/* Read until len bytes are there or the input ends: the number of bytes read. */
ssize_t io_read_full(int fd, void *data, size_t len) _must_check_;
/* Read exactly len bytes from a socket or pipe by the deadline; -EPIPE when it ends before. */
int io_read_exact(int fd, void *data, size_t len, struct deadline d) _must_check_;
/* Write all of it.  Sockets are written with MSG_NOSIGNAL: no SIGPIPE. */
int io_write_all(int fd, const void *data, size_t len, struct deadline d) _must_check_;

/*
 * Append to `out` what the file has from its start, at most max bytes, with read(2) only.
 * -EFBIG when there is more.  For files under /proc, whose size is not known beforehand.
 */
int io_slurp(int fd, struct buf *out, size_t max) _must_check_;

/*
 * A file that has no name, for reading and writing: on disk where there is a directory for it
 * (TMPDIR, /tmp), else in memory that can swap.  A descriptor or a negative errno.
 */
int io_unnamed_file(void) _must_check_;

/* Write all that a regular file has, from its start, to another descriptor. */
int io_copy(int from, int to) _must_check_;

#endif
