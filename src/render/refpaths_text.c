#include "render/refpaths_text.h"

#include <string.h>

#include "base/text.h"
#include "base/xalloc.h"
#include "render/units.h"

#define LINES_MAX 40  /* of one way */
#define VIA_WIDEST 24 /* longer ones stand out of line */

/* The first of some objects that are held in just the same way, one by the other. */
struct line {
	size_t at;    /* on the way */
	size_t times;
};

/* What the JVM's own loaders hold is told in the same way as their classes. */
static bool is_class_root(const struct heap *h, const struct graph_root *root)
{
	return root && root->kind == TAPE_ROOT_CLASS &&
	       graph_stands_for(h->graph, root->node) != GRAPH_NONE;
}

/* How the first object on a way is held. */
static const char *root_via(const struct heap *h, const struct graph_root *root)
{
	static const char *const texts[TAPE_ROOTS] = {
		[TAPE_ROOT_CLASS] = "class",
		[TAPE_ROOT_JNI_GLOBAL] = "JNI global",
		[TAPE_ROOT_JNI_LOCAL] = "JNI local",
		[TAPE_ROOT_STACK] = "local variable",
		[TAPE_ROOT_THREAD] = "thread",
		[TAPE_ROOT_MONITOR] = "lock",
		[TAPE_ROOT_VM] = "JVM",
	};

	if (root && root->kind == TAPE_ROOT_CLASS && !is_class_root(h, root))
		return "class data";
	return root ? texts[root->kind] : "root";
}

static void add_printable(struct buf *text, const char *s)
{
	text_printable(text, s, strlen(s));
}

static void add_thread(struct buf *text, const char *name, bool kind_only)
{
	_cleanup_buf_ struct buf kind = BUF_INIT;

	if (kind_only)
		refpaths_thread_kind(name, &kind);
	buf_adds(text, kind_only ? "threads \"" : "thread \"");
	add_printable(text, kind_only ? buf_str(&kind) : name);
	buf_addc(text, '"');
}

/*
 * Constants in the compiled code of a method that runs are told as its JNI locals, too
 * (jvmtiTagMap.cpp: "Follow oops from compiled nmethod").
 */
static void add_root(const struct heap *h, uint32_t node, bool threads_differ, struct buf *text)
{
	static const char *const texts[TAPE_ROOTS] = {
		[TAPE_ROOT_CLASS] = "constants and the like of the JVM's own classes",
		[TAPE_ROOT_JNI_GLOBAL] = "a global reference of native code",
		[TAPE_ROOT_JNI_LOCAL] = "a reference of native or compiled code",
		[TAPE_ROOT_STACK] = "a local variable",
		[TAPE_ROOT_THREAD] = "",
		[TAPE_ROOT_MONITOR] = "a lock in use",
		[TAPE_ROOT_VM] = "the JVM itself",
	};
	const struct graph_root *root = graph_root_of(h->graph, node);
	const struct heap_method *method = root ? heap_method(h, root->method) : NULL;
	const char *thread = root ? heap_thread_name(h, root->thread) : NULL;

	if (is_class_root(h, root)) {
		buf_adds(text, "class ");
		add_printable(text, heap_node_class(h, node));
		return;
	}
	buf_adds(text, root ? texts[root->kind] : "a root");
	if (method) {
		buf_adds(text, " of ");
		add_printable(text, method->class);
		buf_addc(text, '.');
		add_printable(text, method->name);
	}
	if (root && root->kind != TAPE_ROOT_THREAD && thread)
		buf_adds(text, " in ");
	if (thread)
		add_thread(text, thread, threads_differ);
	else if (root && root->kind == TAPE_ROOT_THREAD)
		buf_adds(text, "a thread");
}

/* The last static field on the way tells most about who is to blame; 0: there is none. */
static size_t last_static(const struct refpath *path)
{
	size_t i = path->n - 1;

	while (i > 0 && path->edges[i].via != GRAPH_STATIC)
		i--;
	return i;
}

void refpath_headline(const struct heap *h, const struct refpath *path, bool threads_differ,
		      struct buf *text)
{
	const struct graph_root *root = graph_root_of(h->graph, path->nodes[0]);
	size_t at = last_static(path);
	_cleanup_buf_ struct buf via = BUF_INIT;
	const char *field;

	if (path->n == 1 && is_class_root(h, root)) {
		buf_adds(text, "loaders that are always there, which have loaded them");
		return;
	}
	if (at != 1 || !is_class_root(h, root)) {
		add_root(h, path->nodes[0], threads_differ, text);
		if (at == 0)
			return;
		buf_adds(text, " and ");
	}
	heap_via(h, path->nodes[at - 1], &path->edges[at], &via);
	field = strchr(buf_str(&via), ' ');
	buf_adds(text, "static ");
	add_printable(text, heap_node_class(h, path->nodes[at - 1]));
	buf_addc(text, '.');
	add_printable(text, field ? field + 1 : buf_str(&via));
}

static bool is_held_alike(const struct refpath *path, size_t a, size_t b)
{
	return path->edges[a].via == path->edges[b].via &&
	       path->edges[a].index == path->edges[b].index;
}

static size_t find_lines(const struct heap *h, const struct refpath *path, struct line *lines)
{
	size_t n = 0;

	for (size_t i = 0; i < path->n; i++) {
		if (i > 1 && refpath_continues(h, path, i) && refpath_continues(h, path, i - 1) &&
		    is_held_alike(path, i, i - 1))
			lines[n - 1].times++;
		else
			lines[n++] = (struct line){ i, 1 };
	}
	return n;
}

static void add_via(const struct heap *h, const struct refpath *path, size_t i, struct buf *text)
{
	_cleanup_buf_ struct buf via = BUF_INIT;

	if (i == 0) {
		buf_adds(text, root_via(h, graph_root_of(h->graph, path->nodes[0])));
		return;
	}
	heap_via(h, path->nodes[i - 1], &path->edges[i], &via);
	text_printable(text, buf_str(&via), via.len);
}

static size_t via_width(const struct heap *h, const struct refpath *path,
			const struct line *lines, size_t n)
{
	_cleanup_buf_ struct buf via = BUF_INIT;
	size_t width = 0;

	for (size_t i = 0; i < n; i++) {
		size_t own;

		buf_reset(&via);
		add_via(h, path, lines[i].at, &via);
		own = text_width(buf_str(&via), via.len);
		if (own > width && own <= VIA_WIDEST)
			width = own;
	}
	return width;
}

static void add_stretch(const struct refpaths_stretch *stretch, struct buf *text)
{
	if (stretch->most < 2)
		return;
	buf_adds(text, "  (");
	if (stretch->least < stretch->most) {
		units_count(text, stretch->least);
		buf_adds(text, " to ");
	}
	units_count(text, stretch->most);
	buf_adds(text, " in a row)");
}

struct printing {
	const struct heap *heap;
	const struct refpath *path;
	const struct refpaths_stretch *stretches;
	const char *indent;
	size_t width;
	FILE *out;
};

static void print_line(const struct printing *p, const struct line *line, size_t stretch)
{
	_cleanup_buf_ struct buf text = BUF_INIT;
	size_t start, own;

	buf_adds(&text, p->indent);
	start = text.len;
	add_via(p->heap, p->path, line->at, &text);
	own = text_width(text.data + start, text.len - start);
	buf_addf(&text, "%*s  ", own < p->width ? (int)(p->width - own) : 0, "");
	add_printable(&text, heap_node_class(p->heap, p->path->nodes[line->at]));
	if (line->times > 1) {
		buf_adds(&text, "  (");
		units_count(&text, line->times);
		buf_adds(&text, " times)");
	}
	if (p->stretches && !refpath_continues(p->heap, p->path, line->at))
		add_stretch(&p->stretches[stretch], &text);
	buf_addc(&text, '\n');
	(void)fwrite(text.data, 1, text.len, p->out); /* main looks at ferror() once */
}

void refpath_print(const struct heap *h, const struct refpath *path,
		   const struct refpaths_stretch *stretches, const char *indent, FILE *out)
{
	_cleanup_free_ struct line *lines = xcalloc(path->n, sizeof(*lines));
	size_t n = find_lines(h, path, lines), stretch = 0;
	size_t first_gone = n > LINES_MAX ? LINES_MAX / 2 : n;
	size_t behind = n > LINES_MAX ? n - LINES_MAX / 2 : n;
	struct printing p = { h, path, stretches, indent, 0, out };

	p.width = via_width(h, path, lines, n);
	for (size_t i = 0; i < n; i++) {
		if (i > 0 && !refpath_continues(h, path, lines[i].at))
			stretch++;
		if (i < first_gone || i >= behind)
			print_line(&p, &lines[i], stretch);
		else if (i == first_gone)
			fprintf(out, "%s... %zu more ...\n", indent, behind - first_gone);
	}
}

static void print_group(const struct heap *h, const struct refpaths *paths,
			const struct refpaths_group *group, FILE *out)
{
	unsigned percent = (unsigned)(group->count * 100 / paths->n_reached);
	_cleanup_buf_ struct buf text = BUF_INIT;
	struct refpath path;

	refpath_find(h->graph, &paths->ways, group->example, &path);
	if (percent > 0)
		buf_addf(&text, "%u %% (", percent);
	else
		buf_adds(&text, "< 1 % (");
	units_count(&text, group->count);
	buf_adds(&text, ") through ");
	refpath_headline(h, &path, group->threads_differ, &text);
	buf_addc(&text, '\n');
	(void)fwrite(text.data, 1, text.len, out);
	refpath_print(h, &path, group->stretches, "    ", out);
	(void)fputc('\n', out);
	refpath_release(&path);
}

static void add_totals(const struct refpaths *paths, const char *what, struct buf *text)
{
	uint64_t lost = paths->n_targets - paths->n_reached - paths->n_weak;

	units_count(text, paths->n_targets);
	buf_addc(text, ' ');
	add_printable(text, what);
	if (paths->n_groups > 0) {
		buf_adds(text, "; ");
		if (paths->n_looked_into < paths->n_groups)
			buf_addf(text, "%zu of ", paths->n_looked_into);
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
		buf_adds(text, " not reachable at all");
	}
	buf_addc(text, '\n');
}

void refpaths_print(const struct heap *h, const struct refpaths *paths, const char *what,
		    FILE *out)
{
	_cleanup_buf_ struct buf text = BUF_INIT;

	for (size_t i = 0; i < paths->n_looked_into; i++)
		print_group(h, paths, &paths->groups[i], out);
	add_totals(paths, what, &text);
	(void)fwrite(text.data, 1, text.len, out);
}
