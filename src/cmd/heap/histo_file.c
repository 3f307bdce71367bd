#include "cmd/heap/histo_file.h"

#include <errno.h>

#include "cmd/json_file.h"
#include "render/histo/histo_json.h"

int histo_file_save(const struct histo *h, int64_t pid, const char *path, struct err *err)
{
	const struct histo_total total = histo_total(h);
	struct json *doc = histo_json(h, h->n, &total, pid);
	int rc = json_file_save(doc, path, err);

	json_free(doc);
	return rc;
}

int histo_file_load(struct histo *h, const char *path, struct err *err)
{
	struct json *doc;
	int rc;

	if (json_file_load(path, &doc, err) < 0)
		return -1;
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
