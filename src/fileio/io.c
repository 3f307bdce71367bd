#include "fileio/io.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include "base/xalloc.h"
#include "fileio/disk_room.h"
#include "fileio/file_open.h"

/*
 * Bytes that are first read into the stack: most files of /proc are shorter, and malloc(3) of
 * musl maps and unmaps memory for each large buffer.
 */
#define SLURP_FIRST 4096
#define SLURP_STEP 65535 /* maximum of a further read; the buffer has one byte more, for a NUL */
#define SLURP_MIN 4096   /* enlarge the buffer if fewer bytes are free in it */

int io_wait(int fd, short events, struct deadline d)
{
	struct pollfd pfd = { .fd = fd, .events = events };

	for (;;) {
		int n = poll(&pfd, 1, deadline_left_ms(d));

		if (n > 0)
			return 0;
		if (n == 0)
			return -ETIMEDOUT;
		if (errno != EINTR)
			return -errno;
	}
}

ssize_t io_read(int fd, void *data, size_t len)
{
	for (;;) {
		ssize_t n = read(fd, data, len);

		if (n >= 0)
			return n;
		if (errno != EINTR)
			return -errno;
	}
}

ssize_t io_read_full(int fd, void *data, size_t len)
{
	size_t done = 0;

	while (done < len) {
		ssize_t n = io_read(fd, (char *)data + done, len - done);

		if (n < 0)
			return n;
		if (n == 0)
			break;
		done += (size_t)n;
	}
	return (ssize_t)done;
}

int io_read_at(int fd, uint64_t at, void *data, size_t len)
{
	uint8_t *to = data;

	while (len > 0) {
		ssize_t n = pread(fd, to, len, (off_t)at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : -ENODATA;
		to += n;
		at += (uint64_t)n;
		len -= (size_t)n;
	}
	return 0;
}

int io_read_exact(int fd, void *data, size_t len, struct deadline d)
{
	size_t done = 0;

	while (done < len) {
		int rc = io_wait(fd, POLLIN, d);
		ssize_t n;

		if (rc < 0)
			return rc;
		n = io_read(fd, (char *)data + done, len - done);
		if (n == -EAGAIN)
			continue;
		if (n < 0)
			return (int)n;
		if (n == 0)
			return -EPIPE;
		done += (size_t)n;
	}
	return 0;
}

int io_write_all(int fd, const void *data, size_t len, struct deadline d)
{
	bool is_socket = true;

	while (len > 0) {
		ssize_t n = is_socket ? send(fd, data, len, MSG_NOSIGNAL | MSG_DONTWAIT)
				      : write(fd, data, len);

		if (n < 0 && errno == ENOTSOCK) {
			is_socket = false;
			continue;
		}
		if (n < 0 && errno == EAGAIN) {
			int rc = io_wait(fd, POLLOUT, d);

			if (rc < 0)
				return rc;
			continue;
		}
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		data = (const char *)data + n;
		len -= (size_t)n;
	}
	return 0;
}

/*
 * Reads up to `room` bytes to the end of `out`, after `so_far` bytes of the file.  Returns the
 * number of bytes read.
 */
static ssize_t slurp_step(int fd, struct buf *out, size_t so_far, size_t room)
{
	char first[SLURP_FIRST];
	size_t have = out->cap > out->len ? out->cap - out->len - 1 : 0;
	bool to_stack = so_far < SLURP_FIRST && have < SLURP_MIN;
	size_t step = to_stack ? sizeof(first) : have > SLURP_MIN ? have : SLURP_STEP;
	ssize_t n;

	if (step > SLURP_STEP)
		step = SLURP_STEP;
	if (room > step)
		room = step;
	n = io_read(fd, to_stack ? first : buf_reserve(out, room), room);
	if (n <= 0)
		return n;
	if (to_stack)
		buf_add(out, first, (size_t)n);
	else
		out->len += (size_t)n;
	out->data[out->len] = '\0';
	return n;
}

int io_slurp(int fd, struct buf *out, size_t max)
{
	size_t start = out->len;

	(void)buf_reserve(out, 0); /* an empty file gives an empty string */
	for (;;) {
		size_t have = out->len - start;
		ssize_t n = slurp_step(fd, out, have, max - have + 1); /* one more: too long? */

		if (n <= 0)
			return (int)n;
		if (out->len - start > max) {
			out->len = start + max;
			out->data[out->len] = '\0';
			return -EFBIG;
		}
	}
}

static int open_and_unlink(const char *dir)
{
	_cleanup_free_ char *name = xasprintf("%s/jtool.XXXXXX", dir);
	int fd = mkostemp(name, O_CLOEXEC);

	if (fd >= 0)
		(void)unlink(name); /* on failure, an empty file remains in the directory */
	return fd;
}

const char *io_temp_dir(void)
{
	const char *dir = getenv("TMPDIR");

	return dir && *dir ? dir : "/tmp";
}

int io_temp_failed(struct err *err, int error, const char *fmt, ...)
{
	char what[sizeof(err->text)];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(what, sizeof(what), fmt, ap);
	va_end(ap);
	return err_set(err, EXIT_PARTIAL,
		       "cannot store %s in a temporary file in '%s': %s; set TMPDIR to another "
		       "directory", what, io_temp_dir(), disk_room_error(error));
}

int io_unnamed_file(void)
{
	const char *dir = io_temp_dir();
	int fd = file_create_unnamed(AT_FDCWD, dir, 0600);
	if (fd < 0)
		fd = open_and_unlink(dir); /* for a file system without O_TMPFILE */
	if (fd < 0)
		fd = memfd_create("jtool", MFD_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

int io_copy(int from, int to)
{
	char chunk[65536];
	off_t at = 0;

	for (;;) {
		ssize_t n = pread(from, chunk, sizeof(chunk), at);
		int rc;

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : 0;
		rc = io_write_all(to, chunk, (size_t)n, DEADLINE_NEVER);
		if (rc < 0)
			return rc;
		at += n;
	}
}
