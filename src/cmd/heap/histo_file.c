#include "cmd/heap/histo_file.h"

#include <errno.h>
#include <string.h>

#include "cmd/archive.h"
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
			       "'%s' has only a part of a histogram: save one with --save, and "
			       "without -n, --filter and --by", path);
	if (rc < 0)
		return err_set(err, EXIT_USAGE, "'%s' has no class histogram: save one with --save",
			       path);
	return 0;
}

int histo_file_archive(struct histo *h, const char *path, enum heap_engine *engine,
		       int64_t *pause_ns, struct err *err)
{
	struct json *doc = archive_json(path, "heaphisto.json", err);
	const char *name = json_get_text(doc, "engine");
	double pause_s = json_get_real(doc, "pause", -1);
	int rc = doc ? histo_from_json(h, doc) : -1;

	for (int i = 0; name && heap_engines[i]; i++) {
		if (strcmp(heap_engines[i], name) == 0)
			*engine = (enum heap_engine)i;
	}
	*pause_ns = pause_s >= 0 && pause_s < 1e6 ? (int64_t)(pause_s * 1e9) : -1;
	if (doc && rc < 0)
		(void)archive_damaged(path, "heaphisto.json", err);
	json_free(doc);
	return rc < 0 ? -1 : 0;
}
