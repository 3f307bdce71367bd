#include "render/refpaths_json.h"

static struct json *root_json(const struct heap *h, uint32_t node)
{
	const struct graph_root *root = graph_root_of(h->graph, node);
	const struct heap_method *method = root ? heap_method(h, root->method) : NULL;
	struct json *json = json_object();
	_cleanup_buf_ struct buf name = BUF_INIT;

	if (method)
		buf_addf(&name, "%s.%s", method->class, method->name);
	json_put_text(json, "kind", root ? heap_root_kind(root->kind) : NULL);
	json_put_text(json, "thread", root ? heap_thread_name(h, root->thread) : NULL);
	json_put_text(json, "method", method ? buf_str(&name) : NULL);
	return json;
}

static void put_step(struct json *steps, const struct heap *h, const struct refpath *path,
		     size_t i)
{
	struct json *json = json_object();
	_cleanup_buf_ struct buf via = BUF_INIT;

	if (i + 1 < path->n)
		heap_via(h, path->nodes[i], &path->edges[i + 1], &via);
	json_put_text(json, "class", heap_node_class(h, path->nodes[i]));
	json_put_text(json, "via", i + 1 < path->n ? buf_str(&via) : NULL);
	json_put(steps, NULL, json);
}

static void put_gap(struct json *steps, size_t n)
{
	struct json *json = json_object();

	json_put_null(json, "class");
	json_put_null(json, "via");
	json_put_unsigned(json, "left_out", n);
	json_put(steps, NULL, json);
}

void refpath_put(struct json *object, const struct heap *h, const struct refpath *path)
{
	struct json *steps = json_array();
	size_t half = path->n > REFPATH_STEPS_MAX ? REFPATH_STEPS_MAX / 2 : path->n;

	for (size_t i = 0; i < half; i++)
		put_step(steps, h, path, i);
	if (half < path->n) {
		put_gap(steps, path->n - 2 * half);
		for (size_t i = path->n - half; i < path->n; i++)
			put_step(steps, h, path, i);
	}
	json_put(object, "root", root_json(h, path->nodes[0]));
	json_put(object, "steps", steps);
}

static struct json *group_json(const struct heap *h, const struct refpaths *paths,
			       const struct refpaths_group *group)
{
	struct json *json = json_object();
	struct refpath path;

	json_put_unsigned(json, "count", group->count);
	json_put_unsigned(json, "length", group->length);
	refpath_find(h->graph, &paths->ways, group->example, &path);
	refpath_put(json, h, &path);
	refpath_release(&path);
	return json;
}

void refpaths_put(struct json *doc, const struct heap *h, const struct refpaths *paths)
{
	struct json *list = json_array();

	for (size_t i = 0; i < paths->n_looked_into; i++)
		json_put(list, NULL, group_json(h, paths, &paths->groups[i]));
	json_put_unsigned(doc, "instances", paths->n_targets);
	json_put_unsigned(doc, "reached", paths->n_reached);
	json_put_unsigned(doc, "only_weakly", paths->n_weak);
	json_put_unsigned(doc, "path_count", paths->n_groups);
	json_put(doc, "paths", list);
}
