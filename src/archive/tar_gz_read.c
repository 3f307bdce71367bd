#include <errno.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "archive/tar_gz.h"
#include "fileio/io.h"

/* maximum bytes of the decompressed archive, which may be 1000 times as large as the file */
#define TOTAL_MAX (UINT64_C(64) << 30)

struct reader {
	z_stream z;
	int fd;
	uint64_t total;
	bool at_member; /* before the first gzip member, or after the last byte of a member */
	unsigned char in[65536];
};

/*
 * Reads the next bytes of the file into r->in.  Returns their number; 0 at the end of the file; or
 * a negative errno.
 */
static ssize_t refill(struct reader *r)
{
	ssize_t n = io_read(r->fd, r->in, sizeof(r->in));

	r->z.next_in = r->in;
	r->z.avail_in = n > 0 ? (uInt)n : 0;
	return n;
}

/*
 * Writes the next `len` decompressed bytes to `to`, or fewer if the archive ends.  Returns how many
 * bytes it has written, or a negative errno: -EBADMSG also if the file ends within a gzip member.
 * Data after the last gzip member is damage: after the blocks that mark the end of the archive,
 * nothing is read.
 */
static ssize_t read_bytes(struct reader *r, void *to, size_t len)
{
	r->z.next_out = to;
	r->z.avail_out = (uInt)len;
	while (r->z.avail_out > 0) {
		ssize_t n = r->z.avail_in > 0 ? 1 : refill(r);
		int rc;

		if (n < 0)
			return n;
		if (n == 0)
			return r->at_member ? (ssize_t)(len - r->z.avail_out) : -EBADMSG;
		rc = inflate(&r->z, Z_NO_FLUSH);
		if (rc != Z_OK && rc != Z_STREAM_END && rc != Z_BUF_ERROR)
			return rc == Z_MEM_ERROR ? -ENOMEM : -EBADMSG;
		r->at_member = rc == Z_STREAM_END;
		if (rc == Z_STREAM_END && inflateReset(&r->z) != Z_OK)
			return -EBADMSG;
	}
	r->total += len;
	return r->total <= TOTAL_MAX ? (ssize_t)len : -EFBIG;
}

/*
 * Parses an octal number, which spaces may precede, and which ends before the first byte that is
 * not an octal digit.  Returns false if there is no digit.
 */
static bool octal(const char *text, size_t len, uint64_t *value)
{
	size_t i = 0;

	*value = 0;
	while (i < len && text[i] == ' ')
		i++;
	if (i == len || text[i] < '0' || text[i] > '7')
		return false;
	for (; i < len && text[i] >= '0' && text[i] <= '7'; i++)
		*value = *value << 3 | (uint64_t)(text[i] - '0');
	return true;
}

/*
 * Reads the header of the next file in the archive.  Returns 1, with the length of the file's
 * content in *size; or 0 at the end of the archive; or a negative errno.
 */
static int read_header(struct reader *r, struct tar_header *h, uint64_t *size)
{
	ssize_t n = read_bytes(r, h, sizeof(*h));
	uint64_t sum;

	if (n < 0)
		return (int)n;
	if (n == 0)
		return r->total > 0 ? 0 : -EBADMSG;
	if ((size_t)n < sizeof(*h))
		return -EBADMSG;
	if (h->name[0] == '\0')
		return 0;
	if (!octal(h->checksum, sizeof(h->checksum), &sum) || sum != tar_header_sum(h) ||
	    !octal(h->size, sizeof(h->size), size))
		return -EBADMSG;
	return 1;
}

static bool is_named(const struct tar_header *h, const char *name)
{
	size_t len = strnlen(h->name, sizeof(h->name)), want = strlen(name);

	return (h->type == '0' || h->type == '\0') && len >= want &&
	       memcmp(h->name + len - want, name, want) == 0 &&
	       (len == want || h->name[len - want - 1] == '/');
}

/*
 * Reads the content of a file in the archive, and the padding after it.  Appends the content to
 * `out`, unless `out` is NULL.  Returns 0 or a negative errno.
 */
static int read_content(struct reader *r, uint64_t size, struct buf *out)
{
	uint64_t left = size + (TAR_BLOCK - size % TAR_BLOCK) % TAR_BLOCK;
	char chunk[16 * TAR_BLOCK];

	while (left > 0) {
		size_t len = left < sizeof(chunk) ? (size_t)left : sizeof(chunk);
		ssize_t n = read_bytes(r, chunk, len);

		if (n < 0)
			return (int)n;
		if (out)
			buf_add(out, chunk, (size_t)n < size ? (size_t)n : (size_t)size);
		size -= (uint64_t)n < size ? (uint64_t)n : size;
		if ((size_t)n < len)
			return -EBADMSG; /* the archive is cut off */
		left -= len;
	}
	return 0;
}

static int find(struct reader *r, const char *name, struct buf *out, size_t max)
{
	struct tar_header header;
	uint64_t size = 0;
	int rc;

	while ((rc = read_header(r, &header, &size)) > 0) {
		bool found = is_named(&header, name);

		if (found && size > max)
			return -EFBIG;
		rc = read_content(r, size, found ? out : NULL);
		if (rc < 0 || found)
			return rc;
	}
	return rc < 0 ? rc : -ENOENT;
}

int tar_gz_read(int fd, const char *name, struct buf *out, size_t max)
{
	enum { GZIP = 15 + 16 };
	struct reader r = { .fd = fd, .at_member = true };
	int rc;

	if (lseek(fd, 0, SEEK_SET) < 0)
		return -errno;
	if (inflateInit2(&r.z, GZIP) != Z_OK)
		return -ENOMEM;
	rc = find(&r, name, out, max);
	(void)inflateEnd(&r.z);
	return rc;
}
