#include "render/profile/flamegraph.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/printable.h"
#include "base/sha256.h"
#include "base/xalloc.h"
#include "embedded/embedded.h"

#define SMALLEST_PART 100000 /* a node below 1/SMALLEST_PART of the total is not shown */

/*
 * The data in the page, as JSON: the distinct names, and columns with one number for each node.
 * Each node comes after its caller.
 */
struct columns {
	const struct call_tree *t;
	struct buf names;     /* the distinct names, as JSON */
	/* for each name of the tree: 1 + index of the name in `names`; 0: not added yet */
	uint32_t *numbers;
	uint32_t n_names;
	struct buf levels;    /* column: depth of the node; 0: the root */
	/* column: index i of the node's name in `names`; or -1 - i if the node is a class */
	struct buf frames;
	struct buf values[CALL_TREE_VALUES]; /* columns: values of the node without its children */
	size_t level;
};

/* Appends a JSON string. '<' is escaped, because it could end the page's script element. */
static void add_text(struct buf *out, const char *text)
{
	_cleanup_free_ char *clean = printable_add_str(text);

	buf_addc(out, '"');
	for (const char *c = clean; *c; c++) {
		if (*c == '"' || *c == '\\')
			buf_addc(out, '\\');
		if (*c == '<' || *c == '>' || *c == '&')
			buf_addf(out, "\\u%04x", (unsigned)*c);
		else
			buf_addc(out, *c);
	}
	buf_addc(out, '"');
}

static unsigned count_values(const struct call_tree *t)
{
	return t->units[1] ? 2 : 1;
}

/* Returns true if the node is shown, because one of its values is large enough. */
static bool is_visible(const struct call_tree *t, uint32_t node)
{
	for (unsigned v = 0; v < count_values(t); v++) {
		uint64_t total = t->nodes[node].total[v], all = t->nodes[0].total[v];

		if (total > 0 && total >= all / SMALLEST_PART)
			return true;
	}
	return false;
}

/* Returns the node's own value, plus the totals of those of its children that are not shown. */
static uint64_t own_value(const struct call_tree *t, uint32_t node, unsigned value)
{
	uint64_t sum = t->nodes[node].self[value];

	for (uint32_t c = t->nodes[node].first; c != 0; c = t->nodes[c].next) {
		if (!is_visible(t, c) &&
		    __builtin_add_overflow(sum, t->nodes[c].total[value], &sum))
			return UINT64_MAX;
	}
	return sum;
}

static uint32_t number_name(struct columns *c, uint32_t name)
{
	if (c->numbers[name] == 0) {
		if (c->n_names > 0)
			buf_addc(&c->names, ',');
		add_text(&c->names, intern_get(&c->t->names, name, NULL));
		c->numbers[name] = ++c->n_names;
	}
	return c->numbers[name] - 1;
}

static void add_node(struct columns *c, uint32_t node)
{
	const struct call_node *n = &c->t->nodes[node];
	bool is_class = c->t->ends_in_classes && node != 0 && n->first == 0;
	int64_t number = number_name(c, n->name);
	const char *comma = c->levels.len > 0 ? "," : "";

	buf_addf(&c->levels, "%s%zu", comma, c->level);
	buf_addf(&c->frames, "%s%" PRId64, comma, is_class ? -1 - number : number);
	for (unsigned v = 0; v < count_values(c->t); v++)
		buf_addf(&c->values[v], "%s%" PRIu64, comma, own_value(c->t, node, v));
}

static void add_nodes(struct columns *c)
{
	uint32_t node = 0;
	bool visible = true;
	size_t up;

	add_node(c, node);
	while ((node = call_tree_next(c->t, node, visible, &up)) != 0) {
		c->level += 1 - up;
		visible = is_visible(c->t, node);
		if (visible)
			add_node(c, node);
	}
}

static void add_data(struct buf *out, const struct columns *c, const char *title,
		     const char *subtitle)
{
	const struct call_tree *t = c->t;

	buf_adds(out, "{\"title\":");
	add_text(out, title);
	buf_adds(out, ",\n\"subtitle\":");
	add_text(out, subtitle);
	buf_adds(out, ",\n\"units\":[");
	for (unsigned v = 0; v < count_values(t); v++) {
		buf_adds(out, v > 0 ? "," : "");
		add_text(out, t->units[v] ? t->units[v] : "");
	}
	buf_addf(out, "],\n%s\"names\":[%s],\n\"levels\":[%s],\n\"frames\":[%s],\n\"values\":[",
		 t->is_diff ? "\"diff\":true,\n" : "", buf_str(&c->names),
		 buf_str(&c->levels), buf_str(&c->frames));
	for (unsigned v = 0; v < count_values(t); v++)
		buf_addf(out, "%s[%s]", v > 0 ? ",\n" : "", buf_str(&c->values[v]));
	buf_adds(out, "]}");
}

static void add_page_data(struct buf *out, const struct call_tree *t, const char *title,
			  const char *subtitle)
{
	struct columns c = { .t = t, .numbers = xcalloc(t->names.n, sizeof(*c.numbers)) };

	add_nodes(&c);
	add_data(out, &c, title, subtitle);
	free(c.numbers);
	buf_release(&c.names);
	buf_release(&c.levels);
	buf_release(&c.frames);
	for (unsigned v = 0; v < CALL_TREE_VALUES; v++)
		buf_release(&c.values[v]);
}

static void add_hash(struct buf *out, const char *text)
{
	char hash[SHA256_BASE64_LEN + 1];

	buf_adds(out, sha256_base64(text, strlen(text), hash));
}

/*
 * Appends the page up to the mark, which must exist.  Returns the part of the page after the mark.
 */
static const char *add_until(struct buf *out, const char *page, const char *mark)
{
	const char *at = strstr(page, mark);

	buf_add(out, page, (size_t)(at - page));
	return at + strlen(mark);
}

int flamegraph_add(struct buf *out, const struct call_tree *t, const char *title,
		   const char *subtitle, struct err *err)
{
	_cleanup_buf_ struct buf parts = BUF_INIT;
	const char *page, *css, *js;

	if (embedded_flamegraph(&parts, err) < 0)
		return -1;
	page = buf_str(&parts);
	css = page + strlen(page) + 1;
	js = css + strlen(css) + 1;
	page = add_until(out, page, "@STYLE_HASH@");
	add_hash(out, css);
	page = add_until(out, page, "@SCRIPT_HASH@");
	add_hash(out, js);
	page = add_until(out, page, "@STYLE@");
	buf_adds(out, css);
	page = add_until(out, page, "@DATA@");
	add_page_data(out, t, title, subtitle);
	page = add_until(out, page, "@SCRIPT@");
	buf_adds(out, js);
	buf_adds(out, page);
	return 0;
}
