#include "render/heap/refpath_view.h"

#include <string.h>

#include "base/printable.h"
#include "base/xalloc.h"
#include "render/units.h"

#define LINES_MAX 40   /* maximum number of steps of a path in text, one step a line */
#define STEPS_MAX 1000 /* maximum number of steps of a path in JSON */
#define VIA_WIDEST 24  /* in terminal cells; after a wider reference, the class is not aligned */

/*
 * Texts for the kinds of roots.  The text for a JNI local also names compiled code, because HotSpot
 * reports the constants in the compiled code of a running method as JNI locals (jvmtiTagMap.cpp:
 * "Follow oops from compiled nmethod").
 */
static const struct {
	const char *via, *what;
} roots[] = {
	[HEAP_STREAM_ROOT_CLASS] = { "class data",
				     "constants and other data of permanent classes" },
	[HEAP_STREAM_ROOT_JNI_GLOBAL] = { "JNI global", "a global reference of native code" },
	[HEAP_STREAM_ROOT_JNI_LOCAL] = { "JNI local", "a reference of native or compiled code" },
	[HEAP_STREAM_ROOT_STACK] = { "local variable", "a local variable" },
	[HEAP_STREAM_ROOT_THREAD] = { "thread", "" },
	[HEAP_STREAM_ROOT_MONITOR] = { "lock", "a lock in use" },
	[HEAP_STREAM_ROOT_VM] = { "JVM", "the JVM itself" },
	[HEAP_STREAM_ROOTS] = { "root", "a root" },
};

/* Consecutive objects of a path, reached through the same field, such as nodes of a linked list. */
struct run {
	size_t at; /* index on the path of the run's first object */
	size_t times; /* number of objects */
};

static void find_root(struct refpath_view *v, const struct heap *h, uint32_t node)
{
	const struct graph_root *root = graph_root_of(h->graph, node);
	const struct heap_method *method = root ? heap_method(h, root->method) : NULL;

	v->root = root ? root->kind : HEAP_STREAM_ROOTS;
	v->is_class =
		v->root == HEAP_STREAM_ROOT_CLASS && graph_stands_for(h->graph, node) != GRAPH_NONE;
	v->thread = root ? heap_thread_name(h, root->thread) : NULL;
	v->method = method ? xasprintf("%s.%s", method->class, method->name) : NULL;
}

/* Returns a text for the reference to object i of the path; the caller frees the text. */
static char *via_of(const struct refpath_view *v, const struct heap *h, const struct refpath *path,
		    size_t i)
{
	struct buf via = BUF_INIT;

	if (i == 0)
		return xstrdup(v->is_class ? "class" : roots[v->root].via);
	heap_via(h, path->nodes[i - 1], &path->edges[i], &via);
	return buf_take(&via);
}

/* Finds the last static field on the path. */
static void find_static(struct refpath_view *v, const struct heap *h, const struct refpath *path)
{
	_cleanup_free_ char *via = NULL;
	size_t i = path->n - 1;

	while (i > 0 && path->edges[i].via != GRAPH_STATIC)
		i--;
	if (i == 0)
		return;
	v->static_at = i;
	via = via_of(v, h, path, i);
	v->held_by = xasprintf("%s.%s", heap_node_class(h, path->nodes[i - 1]),
			       strchr(via, ' ') ? strchr(via, ' ') + 1 : via);
}

static bool has_same_reference(const struct refpath *path, size_t a, size_t b)
{
	return path->edges[a].via == path->edges[b].via &&
	       path->edges[a].index == path->edges[b].index;
}

static size_t find_runs(const struct heap *h, const struct refpath *path, bool merge,
			struct run *runs)
{
	size_t n = 0;

	for (size_t i = 0; i < path->n; i++) {
		if (merge && i > 1 && refpath_continues(h, path, i) &&
		    refpath_continues(h, path, i - 1) && has_same_reference(path, i, i - 1))
			runs[n - 1].times++;
		else
			runs[n++] = (struct run){ i, 1 };
	}
	return n;
}

static size_t width_of(const char *via)
{
	_cleanup_free_ char *text = printable_add_str(via);

	return printable_width(text, strlen(text));
}

static void widen(struct refpath_view *v, const char *via)
{
	size_t width = width_of(via);

	if (width > v->via_width && width <= VIA_WIDEST)
		v->via_width = width;
}

static void find_steps(struct refpath_view *v, const struct heap *h, const struct refpath *path,
		       const struct refpaths_stretch *stretches, bool for_people)
{
	_cleanup_free_ struct run *runs = xcalloc(path->n, sizeof(*runs));
	size_t n = find_runs(h, path, for_people, runs), most = for_people ? LINES_MAX : STEPS_MAX;
	size_t first_out = n > most ? most / 2 : n, end_out = n > most ? n - most / 2 : n;

	v->steps = xcalloc(n < most ? n : most + 1, sizeof(*v->steps));
	for (size_t i = 0; i < n; i++) {
		bool begins = !refpath_continues(h, path, runs[i].at);
		bool is_out = i >= first_out && i < end_out;
		_cleanup_free_ char *via = NULL;

		if (stretches && i > 0 && begins)
			stretches++;
		if (is_out && i > first_out && !for_people)
			continue;
		via = via_of(v, h, path, runs[i].at);
		widen(v, via);
		if (is_out && i > first_out)
			continue;
		v->steps[v->n++] = (struct refpath_step){
			.class = is_out ? NULL : heap_node_class(h, path->nodes[runs[i].at]),
			.via = TAKE_PTR(via),
			.times = is_out ? end_out - first_out : runs[i].times,
			.stretch = begins ? stretches : NULL,
		};
	}
}

void refpath_view_init(struct refpath_view *v, const struct heap *h, const struct graph_bfs *bfs,
		       uint32_t node, const struct refpaths_stretch *stretches, bool for_people)
{
	struct refpath path;

	refpath_find(h->graph, bfs, node, &path);
	*v = (struct refpath_view){ .length = path.n };
	find_root(v, h, path.nodes[0]);
	find_static(v, h, &path);
	find_steps(v, h, &path, stretches, for_people);
	refpath_release(&path);
}

void refpath_view_release(struct refpath_view *v)
{
	for (size_t i = 0; i < v->n; i++)
		free(v->steps[i].via);
	free(v->steps);
	free(v->method);
	free(v->held_by);
}

static void add_printable(struct buf *out, const char *before, const char *text)
{
	buf_adds(out, before);
	printable_add(out, text, strlen(text));
}

static void add_thread(struct buf *out, const char *name, bool kind_only)
{
	_cleanup_buf_ struct buf kind = BUF_INIT;

	if (kind_only)
		refpaths_thread_kind(name, &kind);
	add_printable(out, kind_only ? "threads \"" : "thread \"",
		      kind_only ? buf_str(&kind) : name);
	buf_addc(out, '"');
}

static void add_root(const struct refpath_view *v, bool threads_differ, struct buf *out)
{
	bool is_thread = v->root == HEAP_STREAM_ROOT_THREAD;

	if (v->is_class) {
		add_printable(out, "class ", v->steps[0].class);
		return;
	}
	buf_adds(out, roots[v->root].what);
	if (v->method)
		add_printable(out, " of ", v->method);
	if (v->thread) {
		buf_adds(out, is_thread ? "" : " in ");
		add_thread(out, v->thread, threads_differ);
	} else if (is_thread) {
		buf_adds(out, "a thread");
	}
}

void refpath_view_headline(const struct refpath_view *v, bool threads_differ, struct buf *out)
{
	/* true if the root is a java.lang.Class, and the path begins with its static field */
	bool is_own = v->is_class && v->static_at == 1;

	if (v->length == 1 && v->is_class) {
		buf_adds(out, "permanent class loaders, which have loaded them");
		return;
	}
	if (!is_own)
		add_root(v, threads_differ, out);
	if (v->held_by)
		add_printable(out, is_own ? "static " : " and static ", v->held_by);
}

static void add_stretch(const struct refpaths_stretch *stretch, struct buf *out)
{
	if (!stretch || stretch->most < 2)
		return;
	buf_adds(out, "  (");
	if (stretch->least < stretch->most) {
		units_count(out, stretch->least);
		buf_adds(out, " to ");
	}
	units_count(out, stretch->most);
	buf_adds(out, " in a row)");
}

static void add_step(const struct refpath_view *v, const struct refpath_step *step, struct buf *out)
{
	size_t width = width_of(step->via);

	if (!step->class) {
		buf_addf(out, "... %zu more ...\n", step->times);
		return;
	}
	add_printable(out, "", step->via);
	buf_addf(out, "%*s", width < v->via_width ? (int)(v->via_width - width) : 0, "");
	add_printable(out, "  ", step->class);
	if (step->times > 1) {
		buf_adds(out, "  (");
		units_count(out, step->times);
		buf_adds(out, " times)");
	}
	add_stretch(step->stretch, out);
	buf_addc(out, '\n');
}

void refpath_view_add(const struct refpath_view *v, const char *indent, struct buf *out)
{
	for (size_t i = 0; i < v->n; i++) {
		buf_adds(out, indent);
		add_step(v, &v->steps[i], out);
	}
}

static struct json *root_json(const struct refpath_view *v)
{
	struct json *json = json_object();

	json_put_text(json, "kind", v->root < HEAP_STREAM_ROOTS ? heap_root_kind(v->root) : NULL);
	json_put_text(json, "thread", v->thread);
	json_put_text(json, "method", v->method);
	return json;
}

void refpath_view_put(const struct refpath_view *v, struct json *object)
{
	struct json *steps = json_array();

	for (size_t i = 0; i < v->n; i++) {
		const struct refpath_step *step = &v->steps[i];
		bool holds = step->class && i + 1 < v->n;
		struct json *json = json_object();

		json_put_text(json, "class", step->class);
		json_put_text(json, "via", holds ? step[1].via : NULL);
		if (!step->class)
			json_put_unsigned(json, "left_out", step->times);
		json_put(steps, NULL, json);
	}
	json_put(object, "root", root_json(v));
	json_put(object, "steps", steps);
}
