/*
 * Complete reads and writes on descriptors, with deadlines.  Functions return 0 or more on success,
 * or a negative errno: -ETIMEDOUT if the deadline has passed; never -EINTR.
 */
#ifndef JTOOL_FILEIO_IO_H
#define JTOOL_FILEIO_IO_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/buf.h"
#include "base/deadline.h"
#include "base/err.h"
#include "base/util.h"

/* Waits for one of `events` (POLLIN, …), a hang-up or an error on the descriptor. */
int io_wait(int fd, short events, struct deadline d) _must_check_;

/* Calls read(2) once.  Returns the number of bytes read, which is 0 at the end of the input. */
ssize_t io_read(int fd, void *data, size_t len) _must_check_;
/* Reads len bytes, or fewer if the input ends.  Returns the number of bytes read. */
ssize_t io_read_full(int fd, void *data, size_t len) _must_check_;
/* Reads exactly len bytes from a socket or pipe.  Returns -EPIPE if the input ends earlier. */
int io_read_exact(int fd, void *data, size_t len, struct deadline d) _must_check_;
/* Reads exactly len bytes of a file from the offset `at` on.  -ENODATA: the file ends earlier. */
int io_read_at(int fd, uint64_t at, void *data, size_t len) _must_check_;
/* Writes all len bytes.  Writing to a socket raises no SIGPIPE. */
int io_write_all(int fd, const void *data, size_t len, struct deadline d) _must_check_;

/*
 * Appends the rest of a file to `out`.  Does not ask for the size of the file, because files under
 * /proc do not report it.  Returns -EFBIG if more than max bytes are left; `out` then has the first
 * max of these bytes.
 */
int io_slurp(int fd, struct buf *out, size_t max) _must_check_;

/* Returns the directory of temporary files: TMPDIR, or /tmp if TMPDIR is unset or empty. */
const char *io_temp_dir(void);
/*
 * Sets err (EXIT_PARTIAL) for data that cannot be stored in a temporary file.  `fmt` and the
 * arguments after `fmt` name the data.  `error` is a negative errno or a negative error number of
 * disk_room.h.  Returns -1.
 */
int io_temp_failed(struct err *err, int error, const char *fmt, ...) _printf_(3, 4);

/*
 * Opens an unnamed file for reading and writing, in io_temp_dir(); or if that fails, in memory
 * (memfd_create(2)), which the kernel can swap out.  Returns a descriptor or a negative errno.
 */
int io_unnamed_file(void) _must_check_;

/* Writes the complete regular file `from`, from its start, to the descriptor `to`. */
int io_copy(int from, int to) _must_check_;

#endif
