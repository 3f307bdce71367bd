#include "cmd/fetch.h"

#include <errno.h>
#include <sys/sendfile.h>
#include <sys/stat.h>

#include "base/io.h"
#include "base/xalloc.h"

#define AT_ONCE (64u * 1024 * 1024) /* short enough for a signal to be answered soon */
#define PIECE (1024 * 1024)

/* Shares the bytes where the file system can, else copies them in the kernel. */
static ssize_t move_by_range(int from, int to)
{
	return copy_file_range(from, NULL, to, NULL, AT_ONCE, 0);
}

static ssize_t move_by_sendfile(int from, int to)
{
	return sendfile(to, from, NULL, AT_ONCE);
}

static ssize_t move_by_hand(int from, int to)
{
	_cleanup_free_ char *piece = xmalloc(PIECE);
	ssize_t n = io_read(from, piece, PIECE);
	int rc = n > 0 ? io_write_all(to, piece, (size_t)n, IO_NO_DEADLINE) : (int)n;

	if (rc < 0) {
		errno = -rc;
		return -1;
	}
	return n;
}

/* The quickest first.  Each goes on from where the descriptors stand. */
static ssize_t (*const ways[])(int, int) = { move_by_range, move_by_sendfile, move_by_hand };

/* These concern the result, however it is written. */
static bool is_final(int error)
{
	return error == ENOSPC || error == EDQUOT || error == EFBIG || error == EIO;
}

static int copy(int from, int to, uint64_t *size)
{
	size_t way = 0;

	for (*size = 0;;) {
		ssize_t n = ways[way](from, to);

		if (n > 0)
			*size += (uint64_t)n;
		else if (n < 0 && errno == EINTR)
			continue;
		else if (n < 0 && is_final(errno))
			return -errno;
		else if (way + 1 < ARRAY_SIZE(ways))
			way++; /* some file systems say that nothing is left when they cannot */
		else
			return n < 0 ? -errno : 0;
	}
}

int fetch_result(struct place *p, struct outfile *out, uint64_t *size, struct err *err)
{
	_cleanup_close_ int fd = place_open(p, err);
	uint64_t copied;
	struct stat st;
	int rc;

	if (fd < 0)
		return -1;
	rc = copy(fd, out->fd, &copied);
	if (rc < 0)
		return outfile_failed(out, rc, err);
	if (fstat(fd, &st) < 0 || copied != (uint64_t)st.st_size)
		return err_set(err, EXIT_PARTIAL,
			       "what the JVM wrote to %s changed while it was copied",
			       place_file(p));
	*size = copied;
	return 0;
}
