#include "cmd/heap/histo_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "fileio/atomic_file.h"
#include "fileio/input_file.h"
#include "fileio/io.h"
#include "render/histo/histo_json.h"

#define SAVED_MAX (256u * 1024 * 1024) /* bytes, about a million classes */

static int write_to(const struct atomic_file *f, const struct json *doc)
{
	int fd = fcntl(f->fd, F_DUPFD_CLOEXEC, 0), rc = 0;
	FILE *out = fd < 0 ? NULL : fdopen(fd, "w");

	if (!out)
		return -errno;
	json_print(doc, out);
	if (fflush(out) != 0 || ferror(out))
		rc = errno ? -errno : -EIO;
	if (fclose(out) != 0 && rc == 0)
		rc = -errno;
	return rc;
}

int histo_file_save(const struct histo *h, int64_t pid, const char *path, struct err *err)
{
	const struct histo_total total = histo_total(h);
	struct atomic_file f;
	struct json *doc;
	int rc;

	if (atomic_file_open(&f, path, ATOMIC_FILE_REPLACE, 0666, err) < 0)
		return -1;
	doc = histo_json(h, h->n, &total, pid);
	rc = write_to(&f, doc);
	json_free(doc);
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

int histo_file_load(struct histo *h, const char *path, struct err *err)
{
	_cleanup_buf_ struct buf text = BUF_INIT;
	struct json *doc;
	int rc = read_file(path, &text, err);

	if (rc < 0)
		return -1;
	doc = json_parse(buf_str(&text), text.len);
	rc = histo_from_json(h, doc);
	json_free(doc);
	if (rc == -ENODATA)
		return err_set(err, EXIT_USAGE,
			       "'%s' has only a part of a histogram: save one with --save", path);
	if (rc < 0)
		return err_set(err, EXIT_USAGE, "'%s' has no class histogram: save one with --save",
			       path);
	return 0;
}
