/* alloc REPORT: reads the report of an agent that recorded from the start of a JVM. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "fileio/io.h"
#include "cmd/alloc/alloc.h"
#include "model/profile/alloc_report.h"

#define PREFIX_LEN 256
#define REPORT_MAX ((size_t)1 << 30)

/* Returns a descriptor of a regular file, or a negative errno.  Does not block on a FIFO. */
static int open_report(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	struct stat st;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
		return fd;
	(void)close(fd);
	return -EINVAL;
}

bool alloc_is_report(const char *path)
{
	_cleanup_close_ int fd = open_report(path);
	char text[PREFIX_LEN];
	ssize_t n = fd < 0 ? fd : io_read_full(fd, text, sizeof(text));

	return n > 0 && alloc_report_is(text, (size_t)n);
}

static int cannot_read(const char *path, int error, struct err *err)
{
	if (error == -EINVAL)
		return err_set(err, EXIT_TARGET, "cannot read '%s': not a regular file", path);
	if (error == -EFBIG)
		return err_set(err, EXIT_TARGET, "cannot read '%s': too large for a report", path);
	return err_set(err, error == -EACCES ? EXIT_PERMISSION : EXIT_TARGET,
		       "cannot read '%s': %s", path, strerror(-error));
}

int alloc_read(const char *path, struct alloc *a, struct err *err)
{
	_cleanup_buf_ struct buf text = BUF_INIT;
	_cleanup_close_ int fd = open_report(path);
	int rc = fd < 0 ? fd : io_slurp(fd, &text, REPORT_MAX);
	size_t line = 0;

	if (rc < 0)
		return cannot_read(path, rc, err);
	if (!alloc_report_is(buf_str(&text), text.len))
		return err_set(err, EXIT_TARGET,
			       "'%s' is not an allocation report: expected a file written by "
			       "-agentpath:$(jtool agent)=alloc,file=REPORT", path);
	if (alloc_report_read(a, buf_str(&text), text.len, &line) == 0) {
		a->flags |= WIRE_ALLOC_RECORDED;
		return 0;
	}
	alloc_release(a);
	return err_set(err, EXIT_PARTIAL, "'%s' is corrupt or truncated in line %zu", path, line);
}
