#include "render/histo_json.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "base/io.h"
#include "base/outfile.h"

#define SAVED_MAX (256u * 1024 * 1024) /* about a million classes */

static struct json *row_json(const struct histo_row *row)
{
	struct json *json = json_object();

	json_put_text(json, "class", row->name);
	json_put_text(json, "loader", row->loader);
	json_put_text(json, "module", row->module);
	json_put_number(json, "instances", row->instances);
	json_put_number(json, "bytes", row->bytes);
	return json;
}

static struct json *total_json(const struct histo_total *total)
{
	struct json *json = json_object();

	json_put_number(json, "classes", total->classes);
	json_put_number(json, "instances", total->instances);
	json_put_number(json, "bytes", total->bytes);
	return json;
}

struct json *histo_json(const struct histo *h, size_t n_rows, const struct histo_total *total,
			int64_t pid)
{
	struct json *doc = json_object(), *classes = json_array();

	for (size_t i = 0; i < n_rows && i < h->n; i++)
		json_put(classes, NULL, row_json(&h->rows[i]));
	if (pid < 0)
		json_put_null(doc, "pid");
	else
		json_put_number(doc, "pid", pid);
	json_put_bool(doc, "live", h->live);
	json_put(doc, "classes", classes);
	json_put(doc, "total", total_json(total));
	return doc;
}

static int add_row(struct histo *h, const struct json *row)
{
	const char *name = json_get_text(row, "class");
	int64_t instances = json_get_number(row, "instances", -1);
	int64_t bytes = json_get_number(row, "bytes", -1);

	if (!name || instances < 0 || bytes < 0)
		return -EBADMSG;
	histo_add(h, name, json_get_text(row, "loader"), json_get_text(row, "module"), instances,
		  bytes);
	return 0;
}

int histo_from_json(struct histo *h, const struct json *doc)
{
	const struct json *classes = json_get(doc, "classes"), *total = json_get(doc, "total");
	struct histo_total sum;

	if (!classes || !total)
		return -EBADMSG;
	h->live = json_get_bool(doc, "live", false);
	for (size_t i = 0; i < json_length(classes); i++) {
		if (add_row(h, json_at(classes, i)) < 0)
			return -EBADMSG;
	}
	sum = histo_total(h);
	return json_get_number(total, "classes", -1) == sum.classes &&
			       json_get_number(total, "instances", -1) == sum.instances &&
			       json_get_number(total, "bytes", -1) == sum.bytes
		       ? 0
		       : -ENODATA;
}

static int write_to(const struct outfile *f, const struct json *doc)
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

int histo_save(const struct histo *h, int64_t pid, const char *path, struct err *err)
{
	const struct histo_total total = histo_total(h);
	struct outfile f;
	struct json *doc;
	int rc;

	if (outfile_open(&f, path, OUTFILE_REPLACE, 0666, err) < 0)
		return -1;
	doc = histo_json(h, h->n, &total, pid);
	rc = write_to(&f, doc);
	json_free(doc);
	rc = rc < 0 ? outfile_failed(&f, rc, err) : outfile_commit(&f, NULL, err);
	outfile_release(&f);
	return rc;
}

static int read_file(const char *path, struct buf *text)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);

	return fd < 0 ? -errno : io_slurp(fd, text, SAVED_MAX);
}

int histo_load(struct histo *h, const char *path, struct err *err)
{
	_cleanup_buf_ struct buf text = BUF_INIT;
	struct json *doc;
	int rc = read_file(path, &text);

	if (rc < 0)
		return err_set(err, EXIT_USAGE, "%s cannot be read: %s", path, strerror(-rc));
	doc = json_parse(buf_str(&text), text.len);
	rc = histo_from_json(h, doc);
	json_free(doc);
	if (rc == -ENODATA)
		return err_set(err, EXIT_USAGE,
			       "%s holds only a part of a histogram: make one with --save", path);
	if (rc < 0)
		return err_set(err, EXIT_USAGE, "%s holds no class histogram: make one with --save",
			       path);
	return 0;
}
