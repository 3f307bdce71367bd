#include "cmd/fetch.h"

#include <errno.h>
#include <sys/sendfile.h>
#include <sys/stat.h>

#include "fileio/io.h"
#include "base/xalloc.h"

#define CALL_BYTES_MAX (64u * 1024 * 1024) /* per system call, so that a signal ends jtool soon */
#define BUFFER_SIZE (1024 * 1024)

/* Shares the blocks of the files if the file system can, else copies in the kernel. */
static ssize_t copy_by_range(int from, int to)
{
	return copy_file_range(from, NULL, to, NULL, CALL_BYTES_MAX, 0);
}

static ssize_t copy_by_sendfile(int from, int to)
{
	return sendfile(to, from, NULL, CALL_BYTES_MAX);
}

static ssize_t copy_by_buffer(int from, int to)
{
	_cleanup_free_ char *buffer = xmalloc(BUFFER_SIZE);
	ssize_t n = io_read(from, buffer, BUFFER_SIZE);
	int rc = n > 0 ? io_write_all(to, buffer, (size_t)n, DEADLINE_NEVER) : (int)n;

	if (rc < 0) {
		errno = -rc;
		return -1;
	}
	return n;
}

/* The copy methods, fastest first.  Each one continues at the current file offsets. */
static ssize_t (*const methods[])(int, int) = { copy_by_range, copy_by_sendfile, copy_by_buffer };

/* Returns whether the destination caused the error, so that every copy method would fail. */
static bool is_final(int error)
{
	return error == ENOSPC || error == EDQUOT || error == EFBIG || error == EIO;
}

static int copy(int from, int to, uint64_t *size)
{
	size_t method = 0;

	for (*size = 0;;) {
		ssize_t n = methods[method](from, to);

		if (n > 0)
			*size += (uint64_t)n;
		else if (n < 0 && errno == EINTR)
			continue;
		else if (n < 0 && is_final(errno))
			return -errno;
		else if (method + 1 < ARRAY_SIZE(methods))
			method++; /* some file systems return 0 for "not supported" */
		else
			return n < 0 ? -errno : 0;
	}
}

int fetch_result(struct staged_file *staged, struct atomic_file *out, uint64_t *size,
		 struct err *err)
{
	_cleanup_close_ int fd = staged_file_open(staged, err);
	uint64_t copied;
	struct stat st;
	int rc;

	if (fd < 0)
		return -1;
	rc = copy(fd, out->fd, &copied);
	if (rc < 0)
		return atomic_file_failed(out, rc, err);
	if (fstat(fd, &st) < 0 || copied != (uint64_t)st.st_size)
		return err_set(err, EXIT_PARTIAL,
			       "the JVM's file %s changed while jtool copied it; try again",
			       staged_file_path(staged));
	*size = copied;
	return 0;
}
