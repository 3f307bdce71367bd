#include "render/profile/collapsed.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/printable.h"
#include "base/xalloc.h"

/* The frames from the tree's root to the current node of a walk. */
struct path {
	struct buf text;
	size_t *lens; /* for each frame: length of `text` before the frame was appended */
	size_t depth, cap;
};

static void push(struct path *path, const char *name)
{
	size_t begin;

	path->lens = xgrow(path->lens, path->depth, &path->cap, sizeof(*path->lens));
	path->lens[path->depth++] = path->text.len;
	if (path->depth > 1)
		buf_addc(&path->text, ';');
	begin = path->text.len;
	printable_add(&path->text, name, strlen(name));
	for (size_t i = begin; i < path->text.len; i++) {
		if (path->text.data[i] == ';')
			path->text.data[i] = ':';
	}
	if (path->text.len == begin) /* an empty name: without "?", no frame would be visible */
		buf_addc(&path->text, '?');
}

static void pop(struct path *path, size_t frames)
{
	if (frames == 0)
		return;
	path->depth -= frames;
	/* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): push() has allocated `lens` */
	path->text.len = path->lens[path->depth];
	path->text.data[path->text.len] = '\0';
}

static void add_line(struct buf *out, const struct path *path, uint64_t value)
{
	if (value > 0)
		buf_addf(out, "%s %" PRIu64 "\n", path->depth ? buf_str(&path->text) : "?", value);
}

void collapsed_add(struct buf *out, const struct call_tree *t, unsigned value)
{
	struct path path = { 0 };
	uint32_t node = 0;
	size_t up;

	add_line(out, &path, t->nodes[0].self[value]);
	while ((node = call_tree_next(t, node, true, &up)) != 0) {
		pop(&path, up);
		push(&path, call_tree_name(t, node));
		add_line(out, &path, t->nodes[node].self[value]);
	}
	buf_release(&path.text);
	free(path.lens);
}
