#include "cmd/json_file.h"

#include <sys/stat.h>

#include "fileio/atomic_file.h"
#include "fileio/input_file.h"
#include "fileio/io.h"

/* limit in bytes for a saved document, enough for about a million classes */
#define SAVED_MAX (256u * 1024 * 1024)

int json_file_save(const struct json *doc, const char *path, struct err *err)
{
	_cleanup_buf_ struct buf text = BUF_INIT;
	struct atomic_file f;
	int rc;

	if (atomic_file_open(&f, path, ATOMIC_FILE_REPLACE, 0666, err) < 0)
		return -1;
	json_add_document(&text, doc);
	buf_addc(&text, '\n');
	rc = io_write_all(f.fd, text.data, text.len, DEADLINE_NEVER);
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
