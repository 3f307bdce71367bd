/* Removes line numbers from a call tree, so that the lines of one method become one frame. */
#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"
#include "model/profile/call_tree.h"

static size_t digits_before(const char *text, size_t end)
{
	size_t n = 0;

	while (n < end && text[end - 1 - n] >= '0' && text[end - 1 - n] <= '9')
		n++;
	return n;
}

size_t call_tree_name_len(const char *frame)
{
	size_t len = strlen(frame);
	size_t digits = digits_before(frame, len);
	const char *open;

	if (digits > 0 && digits + 1 < len && frame[len - digits - 1] == ':')
		return len - digits - 1;
	open = len > 0 && frame[len - 1] == ')' ? strrchr(frame, '(') : NULL;
	return open && open > frame ? (size_t)(open - frame) : len;
}

char *call_tree_method(const struct call_tree *t, uint32_t node)
{
	const char *name = call_tree_name(t, node);
	bool is_class = t->ends_in_classes && t->nodes[node].first == 0;

	return xstrndup(name, is_class ? strlen(name) : call_tree_name_len(name));
}

void call_tree_drop_lines(const struct call_tree *t, struct call_tree *out)
{
	_cleanup_free_ uint32_t *copies = xcalloc(t->n, sizeof(*copies));

	call_tree_init(out, t->units[0], t->units[1]);
	out->ends_in_classes = t->ends_in_classes;
	for (size_t i = 0; i < t->n; i++) {
		const struct call_node *node = &t->nodes[i];
		_cleanup_free_ char *method = call_tree_method(t, (uint32_t)i);

		if (i > 0)
			copies[i] = call_tree_child(out, copies[node->parent], method);
		call_tree_add(out, copies[i], node->self);
	}
	call_tree_sum(out);
}
