#include "model/pieces.h"

#include "base/xalloc.h"

uint64_t bigs_retained(const struct bigs *b, uint32_t number)
{
	return b->tree->retained[b->list[number].node];
}

static bool is_big(const struct bigs *b, uint32_t node)
{
	return b->tree->retained[node] >= b->least;
}

uint32_t bigs_number(const struct bigs *b, uint32_t node)
{
	size_t low = 0, high = b->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (b->list[middle].node == node)
			return (uint32_t)middle;
		if (b->list[middle].node < node)
			low = middle + 1;
		else
			high = middle;
	}
	return GRAPH_NONE;
}

static bool same_class(const struct bigs *b, uint32_t x, uint32_t y)
{
	return y < b->tree->n && graph_class(b->graph, x) == graph_class(b->graph, y);
}

bool bigs_continues(const struct bigs *b, uint32_t node)
{
	const uint32_t *dominator = b->tree->dominator;
	uint32_t above = dominator[node];

	if (above >= b->tree->n || graph_stands_for(b->graph, node) != GRAPH_NONE)
		return false;
	return same_class(b, node, above) || same_class(b, node, dominator[above]);
}

struct ranked {
	uint64_t retained;
	uint32_t number;
};

static int compare_ranked(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;

	if (x->retained != y->retained)
		return x->retained > y->retained ? -1 : 1;
	return x->number < y->number ? -1 : x->number > y->number;
}

static void put_in_order(struct bigs *b)
{
	_cleanup_free_ struct ranked *ranked = xreallocarray(NULL, b->n + 1, sizeof(*ranked));

	for (uint32_t i = 0; i < b->n; i++)
		ranked[i] = (struct ranked){ bigs_retained(b, i), i };
	if (b->n > 1)
		qsort(ranked, b->n, sizeof(*ranked), compare_ranked);
	b->order = xreallocarray(NULL, b->n + 1, sizeof(*b->order));
	for (size_t i = 0; i < b->n; i++)
		b->order[i] = ranked[i].number;
}

void bigs_find(struct bigs *b, const struct graph *g, const struct graph_tree *tree,
	       uint64_t least)
{
	*b = (struct bigs){ .graph = g, .tree = tree, .least = least > 0 ? least : 1 };
	for (uint32_t node = 0; node < tree->n; node++) {
		if (!is_big(b, node))
			continue;
		b->list = xgrow(b->list, b->n, &b->cap, sizeof(*b->list));
		b->list[b->n++] = (struct big){ .node = node };
	}
	for (size_t i = 0; i < b->n; i++)
		b->list[i].above = bigs_number(b, tree->dominator[b->list[i].node]);
	put_in_order(b);
}

void bigs_release(struct bigs *b)
{
	free(b->list);
	free(b->order);
	*b = (struct bigs){ 0 };
}

/* Pieces while they are counted: open addressing, places with n == 0 are free. */
struct counts {
	struct piece *at;
	size_t size, used; /* size: a power of two */
};

/* By bits that the holder has a share in: many hold objects of one class. */
static size_t place_of(uint32_t holder, uint32_t class)
{
	uint64_t key = (uint64_t)holder << 32 | class;

	return (size_t)(key * UINT64_C(0x9e3779b97f4a7c15) >> 40);
}

static struct piece *find_count(const struct counts *c, uint32_t holder, uint32_t class)
{
	size_t i = place_of(holder, class) & (c->size - 1);

	while (c->at[i].n > 0 && (c->at[i].holder != holder || c->at[i].class != class))
		i = (i + 1) & (c->size - 1);
	return &c->at[i];
}

static void counts_grow(struct counts *c)
{
	struct counts larger = { .size = c->size > 0 ? 2 * c->size : 64, .used = c->used };

	larger.at = xcalloc(larger.size, sizeof(*larger.at));
	for (size_t i = 0; i < c->size; i++) {
		if (c->at[i].n > 0)
			*find_count(&larger, c->at[i].holder, c->at[i].class) = c->at[i];
	}
	free(c->at);
	*c = larger;
}

static void count(struct counts *c, const struct bigs *b, uint32_t holder, uint32_t node,
		  uint64_t bytes)
{
	uint32_t class = graph_class(b->graph, node);
	const uint64_t *retained = b->tree->retained;
	struct piece *piece;

	if (2 * c->used >= c->size)
		counts_grow(c);
	piece = find_count(c, holder, class);
	if (piece->n == 0) {
		*piece = (struct piece){ .holder = holder, .class = class, .biggest = node };
		c->used++;
	}
	piece->n++;
	piece->bytes += bytes;
	if (retained[node] > retained[piece->biggest])
		piece->biggest = node;
}

struct finder {
	const struct bigs *bigs;
	const struct pieces_wanted *wanted;
	/*
	 * Of small nodes that continue something: whose they are + 1.  Those of lists and trees
	 * only; the rest is never backed by memory.
	 */
	uint32_t *known; /* NULL: they are not followed */
	struct counts counts;
};

/* Whose a node is, so that what it dominates counts as that one's; GRAPH_NONE: nobody's. */
static uint32_t owner_of(const struct finder *f, uint32_t node)
{
	const struct bigs *b = f->bigs;
	uint32_t at = node, owner = GRAPH_NONE;

	if (node >= b->tree->n)
		return f->wanted->roots;
	while (f->known && !is_big(b, at) && f->known[at] == 0 && bigs_continues(b, at))
		at = b->tree->dominator[at];
	if (is_big(b, at))
		owner = f->wanted->holders[bigs_number(b, at)];
	else if (!f->known)
		return GRAPH_NONE;
	else if (f->known[at] > 0 && f->known[at] < GRAPH_NONE)
		owner = f->known[at] - 1;
	for (; node != at; node = b->tree->dominator[node])
		f->known[node] = owner == GRAPH_NONE ? GRAPH_NONE : owner + 1;
	return owner;
}

static enum piece_role role_of(const struct finder *f, uint32_t node)
{
	if (is_big(f->bigs, node))
		return f->wanted->roles[bigs_number(f->bigs, node)];
	return owner_of(f, node) != GRAPH_NONE ? PIECE_SHELL : PIECE_WHOLE;
}

static void count_node(struct finder *f, uint32_t node)
{
	const struct bigs *b = f->bigs;
	uint32_t dominator = b->tree->dominator[node];
	uint32_t holder = dominator == GRAPH_NONE ? GRAPH_NONE : owner_of(f, dominator);

	if (holder == GRAPH_NONE)
		return;
	switch (role_of(f, node)) {
	case PIECE_WHOLE:
		count(&f->counts, b, holder, node, b->tree->retained[node]);
		return;
	case PIECE_SHELL:
		count(&f->counts, b, holder, node, graph_size(b->graph, node));
		return;
	case PIECE_APART:
		return;
	}
}

static int compare_pieces(const void *a, const void *b)
{
	const struct piece *x = a, *y = b;

	if (x->holder != y->holder)
		return x->holder < y->holder ? -1 : 1;
	if (x->bytes != y->bytes)
		return x->bytes > y->bytes ? -1 : 1;
	return x->class < y->class ? -1 : x->class > y->class;
}

static void put_together(struct pieces *p, struct counts *c)
{
	*p = (struct pieces){ .list = c->at };
	for (size_t i = 0; i < c->size; i++) {
		if (c->at[i].n > 0)
			p->list[p->n++] = c->at[i];
	}
	if (p->n > 1)
		qsort(p->list, p->n, sizeof(*p->list), compare_pieces);
}

void pieces_find(struct pieces *p, const struct bigs *b, const struct pieces_wanted *wanted)
{
	struct finder f = { .bigs = b, .wanted = wanted };

	if (wanted->follow)
		f.known = xcalloc((size_t)b->tree->n + 1, sizeof(*f.known));
	for (uint32_t node = 0; node < b->tree->n; node++)
		count_node(&f, node);
	free(f.known);
	put_together(p, &f.counts);
}

void pieces_release(struct pieces *p)
{
	free(p->list);
	*p = (struct pieces){ 0 };
}

/* Where the holder's begin, or would. */
static size_t first_of(const struct pieces *p, uint32_t holder)
{
	size_t low = 0, high = p->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (p->list[middle].holder < holder)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

struct pieces_sum pieces_of(const struct pieces *p, uint32_t holder)
{
	struct pieces_sum sum = { .first = first_of(p, holder) };

	for (size_t i = sum.first; i < p->n && p->list[i].holder == holder; i++) {
		sum.n_classes++;
		sum.n += p->list[i].n;
		sum.bytes += p->list[i].bytes;
	}
	return sum;
}
