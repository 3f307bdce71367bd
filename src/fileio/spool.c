#include "fileio/spool.h"

#include <errno.h>
#include <string.h>

#include "fileio/io.h"

int spool_add(struct spool *s, const void *data, size_t len)
{
	int rc;

	if (s->file < 0 && s->memory.len + len <= SPOOL_MEMORY_MAX &&
	    disk_room_take(&s->memory_room, len) == 0) {
		buf_add(&s->memory, data, len);
		return 0;
	}
	if (s->file < 0) {
		int fd = io_unnamed_file();

		if (fd < 0)
			return fd;
		s->file = fd;
		s->room = disk_room_begin(fd);
	}
	rc = disk_room_take(&s->room, len);
	if (rc == 0)
		rc = io_write_all(s->file, data, len, DEADLINE_NEVER);
	if (rc == 0)
		s->file_len += len;
	return rc;
}

void spool_skip(struct spool *s, size_t n)
{
	if (n == 0)
		return;
	memmove(s->memory.data, s->memory.data + n, s->memory.len - n + 1);
	s->memory.len -= n;
}

uint64_t spool_len(const struct spool *s)
{
	return s->memory.len + s->file_len;
}

ssize_t spool_read(const struct spool *s, uint64_t at, void *data, size_t len)
{
	ssize_t n;

	if (at < s->memory.len) {
		if (len > s->memory.len - at)
			len = s->memory.len - (size_t)at;
		memcpy(data, s->memory.data + at, len);
		return (ssize_t)len;
	}
	if (s->file < 0)
		return 0;
	do
		n = pread(s->file, data, len, (off_t)(at - s->memory.len));
	while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : n;
}

int spool_write(const struct spool *s, int fd)
{
	int rc = io_write_all(fd, s->memory.data, s->memory.len, DEADLINE_NEVER);

	return rc < 0 || s->file < 0 ? rc : io_copy(s->file, fd);
}

int spool_text(const struct spool *s, struct buf *out, size_t max)
{
	uint64_t at = 0, total = spool_len(s);

	if (total > max)
		return -EFBIG;
	while (at < total) {
		size_t left = (size_t)(total - at);
		ssize_t n = spool_read(s, at, buf_reserve(out, left), left);

		if (n <= 0)
			return n < 0 ? (int)n : -EIO;
		out->len += (size_t)n;
		out->data[out->len] = '\0';
		at += (uint64_t)n;
	}
	return 0;
}

void spool_release(struct spool *s)
{
	buf_release(&s->memory);
	if (s->file >= 0)
		/* An error of close() does not matter: the unnamed file is not needed any more. */
		(void)close(s->file);
	*s = (struct spool)SPOOL_INIT;
}
