#include "fileio/spool.h"

#include <errno.h>
#include <string.h>

#include "fileio/io.h"

int spool_add(struct spool *s, const void *data, size_t len)
{
	int rc;

	if (s->file < 0 && s->memory.len + len <= SPOOL_MEMORY_MAX) {
		buf_add(&s->memory, data, len);
		return 0;
	}
	if (s->file < 0) {
		int fd = io_unnamed_file();

		if (fd < 0)
			return fd;
		s->file = fd;
	}
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

int spool_write(const struct spool *s, int fd)
{
	int rc = io_write_all(fd, s->memory.data, s->memory.len, DEADLINE_NEVER);

	return rc < 0 || s->file < 0 ? rc : io_copy(s->file, fd);
}

int spool_text(const struct spool *s, struct buf *out, size_t max)
{
	uint64_t at = 0;

	if (spool_len(s) > max)
		return -EFBIG;
	buf_add(out, s->memory.data, s->memory.len);
	while (at < s->file_len) {
		size_t left = (size_t)(s->file_len - at);
		ssize_t n = pread(s->file, buf_reserve(out, left), left, (off_t)at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : -EIO;
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
		(void)close(s->file); /* unnamed file: its data is not needed any more */
	*s = (struct spool)SPOOL_INIT;
}
