#include "cmd/json_file.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "fileio/atomic_file.h"
#include "fileio/input_file.h"
#include "fileio/io.h"

/* limit in bytes for a saved document, enough for about a million classes */
#define SAVED_MAX (256u * 1024 * 1024)

static int write_to(const struct atomic_file *f, const struct json *doc)
{
	int fd = fcntl(f->fd, F_DUPFD_CLOEXEC, 0), rc = 0;
	FILE *out = fd < 0 ? NULL : fdopen(fd, "w");

	if (!out) {
		rc = -errno;
		if (fd >= 0)
			(void)close(fd); /* nothing was written to it */
		return rc;
	}
	json_print(doc, out);
	if (fflush(out) != 0 || ferror(out))
		rc = errno ? -errno : -EIO;
	if (fclose(out) != 0 && rc == 0)
		rc = -errno;
	return rc;
}

int json_file_save(const struct json *doc, const char *path, struct err *err)
{
	struct atomic_file f;
	int rc;

	if (atomic_file_open(&f, path, ATOMIC_FILE_REPLACE, 0666, err) < 0)
		return -1;
	rc = write_to(&f, doc);
	rc = rc < 0 ? atomic_file_failed(&f, rc, err) : atomic_file_commit(&f, NULL, err);
	atomic_file_release(&f);
	return rc;
}

static int read_file(const char *path, struct buf *text, struct err *err)
{
	struct stat st;
	_cleanup_close_ int fd = input_file_open(path, INPUT_FILE_PIPE, &st, err);
	int rc = fd < 0 ? 0 : io_slurp(fd, text, SAVED_MAX);

	return rc < 0 ? input_file_failed(path, rc, err) : fd < 0 ? -1 : 0;
}

int json_file_load(const char *path, struct json **doc, struct err *err)
{
	_cleanup_buf_ struct buf text = BUF_INIT;

	*doc = NULL;
	if (read_file(path, &text, err) < 0)
		return -1;
	*doc = json_parse(buf_str(&text), text.len);
	return 0;
}
