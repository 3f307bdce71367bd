#include "render/profile/profile_view.h"

#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"
#include "render/limit.h"
#include "render/table.h"
#include "render/units.h"

#define NS_PER_S 1e9

static bool is_unit(const struct profile *p, const char *unit)
{
	return p->tree.units[0] && strcmp(p->tree.units[0], unit) == 0;
}

/* Returns the index of the sample count in call_node.self and call_node.total. */
static unsigned samples_at(const struct profile *p)
{
	return p->tree.units[1] ? 1 : 0;
}

static void add_value(struct buf *out, const struct profile *p, uint64_t value)
{
	if (is_unit(p, "ns"))
		units_nanos(out, value);
	else if (is_unit(p, "bytes"))
		units_bytes(out, value > INT64_MAX ? INT64_MAX : (int64_t)value);
	else
		units_count(out, value);
}

static void add_samples(struct buf *out, const struct profile *p)
{
	const char *unit = p->tree.units[samples_at(p)];

	units_count(out, p->samples);
	buf_addf(out, " %.*s", (int)strlen(unit) - (p->samples == 1), unit);
}

void profile_text_summary(struct buf *out, const struct profile *p)
{
	static const char *const nouns[N_PROFILE_KINDS] = {
		[PROFILE_CPU] = "of CPU time",
		[PROFILE_WALL] = "of all threads",
		[PROFILE_LOCK] = "of waiting for locks",
		[PROFILE_ALLOC] = "allocated",
		[PROFILE_IO] = "of reading and writing",
		[PROFILE_EXCEPTIONS] = "of exceptions",
	};

	buf_addf(out, "%.1f s: ", (double)p->duration_ns / NS_PER_S);
	if (p->tree.units[1]) {
		add_value(out, p, p->tree.nodes[0].total[0]);
		buf_addf(out, " %s in ", nouns[p->kind]);
	}
	add_samples(out, p);
	if (p->interval_ns > 0) {
		buf_adds(out, ", one every ");
		units_nanos(out, p->interval_ns);
	}
}

enum { SELF, SELF_SHARE, TOTAL, TOTAL_SHARE, THREAD, METHOD, SELF_SAMPLES, TOTAL_SAMPLES };

/* Returns the table, which the caller frees. */
static struct table *new_table(const struct profile *p)
{
	enum cell_type type = is_unit(p, "ns")	    ? CELL_NANOS
			      : is_unit(p, "bytes") ? CELL_BYTES
						    : CELL_COUNT;
	/* Leading spaces in a heading reserve the width of the widest values. */
	const struct column columns[] = {
		[SELF] = { "    SELF", "self", type, false },
		[SELF_SHARE] = { "    %", NULL, CELL_PERCENT, false },
		[TOTAL] = { "   TOTAL", "total", type, false },
		[TOTAL_SHARE] = { "    %", NULL, CELL_PERCENT, false },
		[THREAD] = { "THREAD", "thread", CELL_TEXT, !p->by_thread },
		[METHOD] = { "METHOD", "method", CELL_TEXT, false },
		[SELF_SAMPLES] = { NULL, "self_samples", CELL_NUMBER, true },
		[TOTAL_SAMPLES] = { NULL, "total_samples", CELL_NUMBER, true },
	};

	return table_new(columns, ARRAY_SIZE(columns));
}

static double share(uint64_t part, uint64_t all)
{
	return all > 0 ? 100.0 * (double)part / (double)all : 0;
}

/* Returns a copy of the frame without its brackets: "main" for "[main]".  The caller frees it. */
static char *thread_name(const char *frame)
{
	size_t len = strlen(frame);

	return len >= 2 ? xstrndup(frame + 1, len - 2) : xstrdup(frame);
}

static void add_method(struct table *t, const struct profile_view *view,
		       const struct hot_method *m)
{
	const struct profile *p = view->profile;
	uint64_t all = p->tree.nodes[0].total[0];
	unsigned samples = samples_at(p);

	table_row(t);
	table_unsigned(t, SELF, m->self[0]);
	table_real(t, SELF_SHARE, share(m->self[0], all));
	table_unsigned(t, TOTAL, m->total[0]);
	table_real(t, TOTAL_SHARE, share(m->total[0], all));
	table_unsigned(t, SELF_SAMPLES, m->self[samples]);
	table_unsigned(t, TOTAL_SAMPLES, m->total[samples]);
	if (m->thread > 0) {
		_cleanup_free_ char *name = thread_name(hot_methods_name(view->methods, m->thread));

		table_text(t, THREAD, name);
	}
	table_text(t, METHOD, hot_methods_name(view->methods, m->name));
}

static struct table *methods_table(const struct profile_view *view)
{
	struct table *t = new_table(view->profile);

	for (size_t i = 0; i < view->n; i++)
		add_method(t, view, &view->methods->list[i]);
	return t;
}

void profile_text_add(struct buf *out, const struct profile_view *view)
{
	struct table *t;

	profile_text_summary(out, view->profile);
	buf_addc(out, '\n');
	if (view->methods->n == 0)
		return;
	t = methods_table(view);
	buf_addc(out, '\n');
	table_add(t, out);
	table_free(t);
	limit_add_more(out, view->methods->n - view->n, "method", "methods");
}

/* Adds the thread, the frames and the class of the stack that ends at the node. */
static void put_stack(struct json *stacks, const struct profile *p, uint32_t node)
{
	const struct call_tree *t = &p->tree;
	const struct call_node *n = &t->nodes[node];
	struct json *object = json_object(), *frames = json_array();
	const char *class = t->ends_in_classes && n->first == 0 ? call_tree_name(t, node) : NULL;
	_cleanup_free_ char *thread = NULL;

	if (class)
		node = n->parent;
	while (node != 0 && !(p->by_thread && t->nodes[node].parent == 0)) {
		json_put_text(frames, NULL, call_tree_name(t, node));
		node = t->nodes[node].parent;
	}
	if (node != 0)
		thread = thread_name(call_tree_name(t, node));
	json_put_text(object, "thread", thread);
	json_put(object, "frames", frames);
	json_put_text(object, "class", class);
	json_put_unsigned(object, "samples", n->self[samples_at(p)]);
	json_put_unsigned(object, "value", n->self[0]);
	json_put(stacks, NULL, object);
}

static struct json *stacks_json(const struct profile *p)
{
	struct json *stacks = json_array();
	uint32_t node = 0;
	size_t up;

	do {
		if (p->tree.nodes[node].self[samples_at(p)] > 0)
			put_stack(stacks, p, node);
		node = call_tree_next(&p->tree, node, true, &up);
	} while (node != 0);
	return stacks;
}

struct json *profile_json(const struct profile_view *view)
{
	const struct profile *p = view->profile;
	struct json *doc = json_object();
	struct table *methods = methods_table(view);

	json_put_text(doc, "event", profile_kinds[p->kind]);
	json_put_known(doc, "pid", view->pid > 0, (uint64_t)view->pid);
	json_put_text(doc, "file", view->file);
	json_put_text(doc, "source", p->source);
	json_put_unsigned(doc, "samples", p->samples);
	json_put_real(doc, "duration", (double)p->duration_ns / NS_PER_S);
	if (p->interval_ns > 0)
		json_put_real(doc, "interval", (double)p->interval_ns / NS_PER_S);
	else
		json_put_null(doc, "interval");
	json_put_text(doc, "unit", p->tree.units[0]);
	json_put_unsigned(doc, "value", p->tree.nodes[0].total[0]);
	json_put(doc, "methods", table_json(methods));
	json_put(doc, "stacks", stacks_json(p));
	json_put(doc, "notes", profile_gaps_json(p));
	table_free(methods);
	return doc;
}
