#include "cmd/fetch.h"

#include <errno.h>
#include <inttypes.h>
#include <sys/sendfile.h>
#include <sys/stat.h>

#include "base/progress.h"
#include "fileio/disk_room.h"
#include "fileio/io.h"
#include "base/xalloc.h"

/* limit in bytes for one system call that copies, so that a signal ends jtool soon */
#define CALL_BYTES_MAX (64u * 1024 * 1024)
#define BUFFER_SIZE (1024 * 1024)

/* Copies with copy_file_range(2).  Where the file system has reflinks, both files share blocks. */
static ssize_t copy_by_range(int from, int to, size_t max)
{
	return copy_file_range(from, NULL, to, NULL, max, 0);
}

static ssize_t copy_by_sendfile(int from, int to, size_t max)
{
	return sendfile(to, from, NULL, max);
}

static ssize_t copy_by_buffer(int from, int to, size_t max)
{
	_cleanup_free_ char *buffer = xmalloc(BUFFER_SIZE);
	ssize_t n = io_read(from, buffer, max < BUFFER_SIZE ? max : BUFFER_SIZE);
	int rc = n > 0 ? io_write_all(to, buffer, (size_t)n, DEADLINE_NEVER) : (int)n;

	if (rc < 0) {
		errno = -rc;
		return -1;
	}
	return n;
}

/*
 * The methods of copying, the fastest first.  Each method copies from and to the current offsets of
 * the files, so that it continues where another method has stopped.
 */
static ssize_t (*const methods[])(int, int, size_t) = { copy_by_range, copy_by_sendfile,
							 copy_by_buffer };

/*
 * Returns whether the error concerns the destination, so that every method of copying would fail.
 */
static bool is_final(int error)
{
	return error == ENOSPC || error == EDQUOT || error == EFBIG || error == EIO;
}

/*
 * Copies `size` bytes, or fewer if the file `from` is shorter.  Sets *copied to the number of
 * copied bytes.  Returns 0 or a negative errno.
 */
static int copy(int from, int to, uint64_t size, uint64_t *copied)
{
	struct disk_room room = disk_room_begin(to);
	_cleanup_(progress_end) struct progress line = { .on = false };
	size_t method = 0;

	progress_begin(&line);
	for (*copied = 0; *copied < size;) {
		uint64_t left = size - *copied;
		size_t max = left < CALL_BYTES_MAX ? (size_t)left : CALL_BYTES_MAX;
		/*
		 * Before the first piece, check that the complete file fits: `size` includes the
		 * holes of a sparse file, because copying turns them into data.
		 */
		int rc = disk_room_take(&room, *copied == 0 ? left : max);
		ssize_t n;

		if (progress_due(&line))
			progress_show(&line, "copying: %" PRIu64 " of %" PRIu64 " MiB",
				      *copied >> 20, size >> 20);
		if (rc < 0)
			return rc;
		n = methods[method](from, to, max);
		if (n > 0)
			*copied += (uint64_t)n;
		else if (n < 0 && errno == EINTR)
			continue;
		else if (n < 0 && is_final(errno))
			return -errno;
		else if (method + 1 < ARRAY_SIZE(methods))
			/*
			 * Try the next method even after 0: some file systems return 0 for a method
			 * that they do not support.
			 */
			method++;
		else
			return n < 0 ? -errno : 0;
	}
	return 0;
}

static int changed(const struct staged_file *staged, struct err *err)
{
	return err_set(err, EXIT_PARTIAL,
		       "the JVM's file %s changed while jtool copied it; try again",
		       staged_file_path(staged));
}

int fetch_result(struct staged_file *staged, struct atomic_file *out,
		 const struct fetch_check *check, uint64_t *size, struct err *err)
{
	_cleanup_close_ int fd = staged_file_open(staged, err);
	struct stat before, st;
	uint64_t copied;
	int rc;

	if (fd < 0)
		return -1;
	if (fstat(fd, &before) < 0)
		return changed(staged, err);
	if (check->take(check->arg, fd, (uint64_t)before.st_size, err) < 0)
		return -1;
	rc = copy(fd, out->fd, (uint64_t)before.st_size, &copied);
	if (rc < 0)
		return atomic_file_failed(out, rc, err);
	if (fstat(fd, &st) < 0 || copied != (uint64_t)st.st_size)
		return changed(staged, err);
	*size = copied;
	return 0;
}
