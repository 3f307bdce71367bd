#include "render/histo/histo_json.h"

#include <errno.h>

#include "render/histo/histo_table.h"

struct json *histo_json(const struct histo *h, size_t n_rows, const struct histo_total *total,
			int64_t pid)
{
	const struct histo_view view = { .n_rows = n_rows };
	struct table *rows = histo_table(h, &view);
	struct json *doc = json_object(), *sum = json_object();

	json_put_number(sum, "classes", total->classes);
	json_put_number(sum, "instances", total->instances);
	json_put_number(sum, "bytes", total->bytes);
	json_put_known(doc, "pid", pid >= 0, (uint64_t)pid);
	json_put_bool(doc, "live", h->live);
	json_put(doc, "classes", table_json(rows));
	json_put(doc, "total", sum);
	table_free(rows);
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
