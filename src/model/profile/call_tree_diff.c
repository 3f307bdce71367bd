#include "model/profile/call_tree_diff.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/strview.h"
#include "base/xalloc.h"

/* Shortens "a.C$$Lambda/0x7f.run" and "a.C$$Lambda$2/123.run" to "a.C$$Lambda.run". */
static void drop_number(char *name)
{
	char *lambda = strstr(name, "$$Lambda"), *at, *dot;

	if (!lambda)
		return;
	at = lambda + strlen("$$Lambda");
	dot = strrchr(at, '.');
	if (dot)
		memmove(at, dot, strlen(dot) + 1);
	else
		*at = '\0';
}

static void add_tree(struct call_tree *out, const struct call_tree *t, unsigned value)
{
	_cleanup_free_ uint32_t *copies = xcalloc(t->n, sizeof(*copies));

	for (size_t i = 0; i < t->n; i++) {
		const struct call_node *node = &t->nodes[i];
		_cleanup_free_ char *text = call_tree_method(t, (uint32_t)i);
		uint64_t values[CALL_TREE_VALUES] = { 0 };

		drop_number(text);
		if (i > 0)
			copies[i] = call_tree_child(out, copies[node->parent], text);
		values[value] = node->self[0];
		call_tree_add(out, copies[i], values);
	}
}

void call_tree_diff(const struct call_tree *now, const struct call_tree *before,
		    struct call_tree *out)
{
	call_tree_init(out, now->units[0], now->units[0]);
	out->ends_in_classes = now->ends_in_classes;
	out->is_diff = true;
	add_tree(out, now, 0);
	add_tree(out, before, 1);
	call_tree_sum(out);
}

/* Reads the number at the end of a line, and removes it. */
static bool take_value(char *line, uint64_t *value)
{
	char *space = strrchr(line, ' '), *end;

	if (!space || space == line || space[1] < '0' || space[1] > '9')
		return false;
	errno = 0;
	*value = strtoull(space + 1, &end, 10);
	*space = '\0';
	return errno == 0 && *end == '\0';
}

size_t call_tree_add_collapsed(struct call_tree *t, const char *text, size_t len)
{
	struct strview rest = { text, text + len }, line;

	for (size_t n = 1; strview_line(&rest, &line); n++) {
		_cleanup_free_ char *copy = xstrndup(line.at, strview_len(line));
		uint64_t values[CALL_TREE_VALUES] = { 0 };
		char *frames = copy, *frame;
		uint32_t node = 0;

		if (strview_len(line) == 0)
			continue;
		if (!take_value(copy, &values[0]))
			return n;
		while ((frame = strsep(&frames, ";")))
			node = call_tree_child(t, node, frame);
		call_tree_add(t, node, values);
	}
	return 0;
}
