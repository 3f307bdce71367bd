#include "archive/tar_gz.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "base/deadline.h"
#include "fileio/io.h"

#define BLOCK TAR_BLOCK
#define SIZE_LIMIT (UINT64_C(1) << 33) /* limit for a file's size: the field has 11 octal digits */

struct stream {
	z_stream z;
	int fd;
};

static int begin(struct stream *s, int fd)
{
	enum { GZIP = 15 + 16, MEMORY = 8 };

	*s = (struct stream){ .fd = fd };
	return deflateInit2(&s->z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, GZIP, MEMORY,
			    Z_DEFAULT_STRATEGY) == Z_OK ? 0 : -ENOMEM;
}

static int put(struct stream *s, const void *data, size_t len, int flush)
{
	unsigned char out[65536];
	int rc;

	s->z.next_in = (Bytef *)data;
	s->z.avail_in = (uInt)len;
	do {
		s->z.next_out = out;
		s->z.avail_out = sizeof(out);
		(void)deflate(&s->z, flush); /* Z_BUF_ERROR means that there was nothing to do */
		rc = io_write_all(s->fd, out, sizeof(out) - s->z.avail_out, DEADLINE_NEVER);
	} while (rc == 0 && s->z.avail_out == 0);
	return rc;
}

static int end(struct stream *s, int rc)
{
	if (rc == 0)
		rc = put(s, NULL, 0, Z_FINISH);
	(void)deflateEnd(&s->z); /* fails only for an incomplete stream, and then rc has an error */
	return rc;
}

unsigned tar_header_sum(const struct tar_header *h)
{
	unsigned sum = 0;

	for (size_t i = 0; i < sizeof(*h); i++) {
		bool is_sum = i >= offsetof(struct tar_header, checksum) &&
			      i < offsetof(struct tar_header, type);

		sum += is_sum ? ' ' : ((const unsigned char *)h)[i];
	}
	return sum;
}

static void fill(struct tar_header *h, const char *name, time_t modified, uint64_t size)
{
	memset(h, 0, sizeof(*h));
	(void)snprintf(h->name, sizeof(h->name), "%s", name);
	(void)snprintf(h->mode, sizeof(h->mode), "0000600");
	(void)snprintf(h->uid, sizeof(h->uid), "0000000");
	(void)snprintf(h->gid, sizeof(h->gid), "0000000");
	(void)snprintf(h->size, sizeof(h->size), "%011llo", (unsigned long long)size);
	(void)snprintf(h->mtime, sizeof(h->mtime), "%011llo", (unsigned long long)modified);
	h->type = '0';
	memcpy(h->magic, "ustar", 6);
	memcpy(h->version, "00", 2);
	(void)snprintf(h->checksum, sizeof(h->checksum), "%06o", tar_header_sum(h));
}

/* The end of an archive.  Not const, because constants take space in the program. */
static char zeros[2 * BLOCK];

static int put_data(struct stream *s, int data_fd, uint64_t size)
{
	char chunk[65536];
	uint64_t done = 0;
	int rc = 0;

	while (rc == 0 && done < size) {
		uint64_t left = size - done;
		ssize_t n = pread(data_fd, chunk, left < sizeof(chunk) ? left : sizeof(chunk),
				  (off_t)done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : -EBADMSG;
		rc = put(s, chunk, (size_t)n, Z_NO_FLUSH);
		done += (uint64_t)n;
	}
	if (rc == 0 && size % BLOCK > 0)
		rc = put(s, zeros, BLOCK - size % BLOCK, Z_NO_FLUSH);
	return rc;
}

int tar_gz_add(int fd, const char *name, time_t modified, int data_fd, uint64_t size)
{
	struct tar_header header;
	struct stream s;
	int rc;

	if (size >= SIZE_LIMIT || strlen(name) >= sizeof(header.name))
		return -EFBIG;
	fill(&header, name, modified, size);
	rc = begin(&s, fd);
	if (rc < 0)
		return rc;
	rc = put(&s, &header, sizeof(header), Z_NO_FLUSH);
	if (rc == 0)
		rc = put_data(&s, data_fd, size);
	return end(&s, rc);
}

int tar_gz_end(int fd)
{
	struct stream s;
	int rc = begin(&s, fd);

	return rc < 0 ? rc : end(&s, put(&s, zeros, sizeof(zeros), Z_NO_FLUSH));
}
