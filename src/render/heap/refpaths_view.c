#include "render/heap/refpaths_view.h"

#include <string.h>

#include "base/printable.h"
#include "render/heap/refpath_view.h"
#include "render/limit.h"
#include "render/units.h"

static void print_group(const struct heap *h, const struct refpaths *paths,
			const struct refpaths_group *group, FILE *out)
{
	unsigned percent = (unsigned)(group->count * 100 / paths->n_reached);
	_cleanup_buf_ struct buf text = BUF_INIT;
	struct refpath_view path;

	refpath_view_init(&path, h, &paths->bfs, group->example, group->stretches, true);
	if (percent > 0)
		buf_addf(&text, "%u %% (", percent);
	else
		buf_adds(&text, "< 1 % (");
	units_count(&text, group->count);
	buf_adds(&text, ") through ");
	refpath_view_headline(&path, group->threads_differ, &text);
	buf_addc(&text, '\n');
	refpath_view_add(&path, "    ", &text);
	buf_addc(&text, '\n');
	(void)fwrite(text.data, 1, text.len, out); /* main.c checks ferror() */
	refpath_view_release(&path);
}

static void add_totals(const struct refpaths *paths, const char *what, struct buf *text)
{
	uint64_t lost = paths->n_targets - paths->n_reached - paths->n_weak;

	units_count(text, paths->n_targets);
	buf_addc(text, ' ');
	printable_add(text, what, strlen(what));
	if (paths->n_groups > 0) {
		buf_adds(text, "; ");
		units_count(text, paths->n_groups);
		buf_adds(text, paths->n_groups == 1 ? " kind of path" : " kinds of paths");
	}
	if (paths->n_weak > 0) {
		buf_adds(text, "; ");
		units_count(text, paths->n_weak);
		buf_adds(text, " only through weak, soft, final or phantom references: see --weak");
	}
	if (lost > 0) {
		buf_adds(text, "; ");
		units_count(text, lost);
		buf_adds(text, " unreachable");
	}
	buf_addc(text, '\n');
}

void refpaths_print(const struct heap *h, const struct refpaths *paths, const char *what, FILE *out)
{
	_cleanup_buf_ struct buf text = BUF_INIT;

	for (size_t i = 0; i < paths->n_examined; i++)
		print_group(h, paths, &paths->groups[i], out);
	add_totals(paths, what, &text);
	limit_add_more(&text, paths->n_groups - paths->n_examined, "kind of path",
		       "kinds of paths");
	(void)fwrite(text.data, 1, text.len, out);
}

static struct json *group_json(const struct heap *h, const struct refpaths *paths,
			       const struct refpaths_group *group)
{
	struct json *json = json_object();
	struct refpath_view path;

	refpath_view_init(&path, h, &paths->bfs, group->example, NULL, false);
	json_put_unsigned(json, "count", group->count);
	json_put_unsigned(json, "length", group->length);
	refpath_view_put(&path, json);
	refpath_view_release(&path);
	return json;
}

void refpaths_put(struct json *doc, const struct heap *h, const struct refpaths *paths)
{
	struct json *list = json_array();

	for (size_t i = 0; i < paths->n_examined; i++)
		json_put(list, NULL, group_json(h, paths, &paths->groups[i]));
	json_put_unsigned(doc, "instances", paths->n_targets);
	json_put_unsigned(doc, "reached", paths->n_reached);
	json_put_unsigned(doc, "only_weakly", paths->n_weak);
	json_put_unsigned(doc, "path_count", paths->n_groups);
	json_put(doc, "paths", list);
}
