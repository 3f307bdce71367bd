#include "cmd/archive.h"

#include <errno.h>
#include <string.h>

#include "archive/tar_gz.h"
#include "fileio/input_file.h"

#define FILE_MAX (1u << 30) /* limit in bytes for one file of an archive */

bool archive_is_file(const char *target)
{
	static const char *const ends[] = { ".tar.gz", ".tgz" };
	size_t len = strlen(target);

	for (size_t i = 0; i < ARRAY_SIZE(ends); i++) {
		size_t n = strlen(ends[i]);

		if (len > n && strcmp(target + len - n, ends[i]) == 0)
			return true;
	}
	return false;
}

int archive_refuse(const char *path, struct err *err)
{
	return err_set(err, EXIT_USAGE,
		       "'%s' is not an archive of jtool capture: expected a name that ends in "
		       ".tar.gz", path);
}

int archive_find(const char *path, const char *name, struct buf *text, struct err *err)
{
	struct stat st;
	_cleanup_close_ int fd = input_file_open(path, INPUT_FILE_REGULAR, &st, err);
	size_t before = text->len;
	int rc;

	if (fd < 0)
		return -1;
	rc = tar_gz_read(fd, name, text, FILE_MAX);
	if (rc == 0)
		return 1;
	text->len = before;
	if (rc == -ENOENT)
		return 0;
	if (rc == -EBADMSG)
		return err_set(err, EXIT_USAGE,
			       "'%s' is cut off or damaged, or is not an archive of jtool capture; "
			       "capture again", path);
	return input_file_failed(path, rc, err);
}

int archive_read(const char *path, const char *name, struct buf *text, struct err *err)
{
	int rc = archive_find(path, name, text, err);

	if (rc == 0)
		return err_set(err, EXIT_USAGE,
			       "'%s' has no file %s: it is not an archive of jtool capture, or the "
			       "capture failed before that file; capture again", path, name);
	return rc < 0 ? -1 : 0;
}

int archive_damaged(const char *path, const char *name, struct err *err)
{
	return err_set(err, EXIT_USAGE, "'%s': its file %s is damaged; capture again", path, name);
}

struct json *archive_json(const char *path, const char *name, struct err *err)
{
	_cleanup_buf_ struct buf text = BUF_INIT;
	struct json *doc;

	if (archive_read(path, name, &text, err) < 0)
		return NULL;
	doc = json_parse(buf_str(&text), text.len);
	if (!doc)
		(void)archive_damaged(path, name, err);
	return doc;
}
