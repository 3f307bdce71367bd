/* alloc REPORT: reads the report of an agent that recorded from the start of a JVM. */
#include <errno.h>

#include "fileio/input_file.h"
#include "fileio/io.h"
#include "cmd/alloc/alloc.h"
#include "model/profile/alloc_report.h"

#define PREFIX_LEN 256
#define REPORT_MAX ((size_t)1 << 30)

bool alloc_is_report(const char *path)
{
	struct err ignored = { .code = EXIT_DONE };
	struct stat st;
	_cleanup_close_ int fd = input_file_open(path, INPUT_FILE_REGULAR, &st, &ignored);
	char text[PREFIX_LEN];
	ssize_t n = fd < 0 ? fd : io_read_full(fd, text, sizeof(text));

	return n > 0 && alloc_report_is(text, (size_t)n);
}

int alloc_read(const char *path, struct alloc *a, struct err *err)
{
	_cleanup_buf_ struct buf text = BUF_INIT;
	struct stat st;
	_cleanup_close_ int fd = input_file_open(path, INPUT_FILE_REGULAR, &st, err);
	int rc = fd < 0 ? -1 : io_slurp(fd, &text, REPORT_MAX);
	size_t line = 0;

	if (fd < 0)
		return -1;
	if (rc == -EFBIG)
		return err_set(err, EXIT_USAGE,
			       "cannot read '%s': it is too large for an allocation report", path);
	if (rc < 0)
		return input_file_failed(path, rc, err);
	if (!alloc_report_is(buf_str(&text), text.len))
		return err_set(err, EXIT_USAGE,
			       "'%s' is not an allocation report: expected a file written by "
			       "-agentpath:$(jtool agent)=alloc,file=REPORT", path);
	if (alloc_report_read(a, buf_str(&text), text.len, &line) == 0) {
		a->flags |= WIRE_ALLOC_RECORDED;
		return 0;
	}
	alloc_release(a);
	return err_set(err, EXIT_PARTIAL,
		       "'%s' is damaged or cut off in line %zu; look for a full disk, or record "
		       "again", path, line);
}
