#include "model/retained.h"

#include "base/xalloc.h"

/* What is looked for among the big objects. */
struct search {
	struct bigs bigs;
	uint32_t *heads; /* of each: the first one of the structure that it is a part of */
	uint64_t *own;   /* bytes of each head's structure without big objects of other kinds */
	uint32_t *holders;
	uint8_t *roles;
};

/* Dominators come before what they dominate: their head is known. */
static void find_heads(struct search *s)
{
	for (uint32_t i = 0; i < s->bigs.n; i++) {
		s->heads[i] = i;
		s->own[i] = bigs_retained(&s->bigs, i);
	}
	for (size_t i = 0; i < s->bigs.n; i++) {
		uint32_t number = s->bigs.order[i], holder = s->bigs.list[number].above;

		if (holder == GRAPH_NONE)
			continue;
		if (bigs_continues(&s->bigs, s->bigs.list[number].node))
			s->heads[number] = s->heads[holder];
		else
			s->own[s->heads[holder]] -= bigs_retained(&s->bigs, number);
	}
}

static bool is_suspect(const struct search *s, uint32_t number)
{
	return s->heads[number] == number && s->own[number] >= s->bigs.least;
}

static void find_pieces(struct search *s, struct pieces *p)
{
	const struct pieces_wanted wanted = { s->holders, s->roles, (uint32_t)s->bigs.n, true };

	for (uint32_t i = 0; i < s->bigs.n; i++) {
		uint32_t head = s->heads[i];

		s->holders[i] = is_suspect(s, head) ? head : GRAPH_NONE;
		s->roles[i] = head == i ? PIECE_APART : PIECE_SHELL;
	}
	pieces_find(p, &s->bigs, &wanted);
}

static struct retained_suspect *add_suspect(struct retained_suspects *s)
{
	s->list = xgrow(s->list, s->n, &s->cap, sizeof(*s->list));
	return &s->list[s->n++];
}

static void add_objects(struct retained_suspects *found, const struct search *s)
{
	for (uint32_t i = 0; i < s->bigs.n; i++) {
		if (!is_suspect(s, i))
			continue;
		*add_suspect(found) = (struct retained_suspect){
			.node = s->bigs.list[i].node,
			.instances = 1,
			.retained = bigs_retained(&s->bigs, i),
			.held = pieces_of(&found->pieces, i),
		};
	}
}

static void add_classes(struct retained_suspects *found, const struct search *s)
{
	const struct pieces_sum all = pieces_of(&found->pieces, (uint32_t)s->bigs.n);

	for (size_t i = all.first; i < all.first + all.n_classes; i++) {
		const struct piece *piece = &found->pieces.list[i];

		if (piece->bytes < s->bigs.least)
			return; /* those with the most bytes come first */
		/* What classes hold, each of them has reasons of its own for. */
		if (graph_stands_for(s->bigs.graph, piece->biggest) != GRAPH_NONE)
			continue;
		*add_suspect(found) = (struct retained_suspect){
			.node = piece->biggest,
			.instances = piece->n,
			.retained = piece->bytes,
			.held = { i, 1, piece->n, piece->bytes },
		};
	}
}

static int compare_suspects(const void *a, const void *b)
{
	const struct retained_suspect *x = a, *y = b;

	if (x->retained != y->retained)
		return x->retained > y->retained ? -1 : 1;
	return x->node < y->node ? -1 : x->node > y->node;
}

void retained_suspects_find(struct retained_suspects *found, const struct graph *g,
			    const struct graph_tree *tree, uint64_t least)
{
	struct search s = { .heads = NULL };

	*found = (struct retained_suspects){ 0 };
	bigs_find(&s.bigs, g, tree, least);
	s.heads = xcalloc(s.bigs.n + 1, sizeof(*s.heads));
	s.own = xcalloc(s.bigs.n + 1, sizeof(*s.own));
	s.holders = xcalloc(s.bigs.n + 1, sizeof(*s.holders));
	s.roles = xcalloc(s.bigs.n + 1, sizeof(*s.roles));
	find_heads(&s);
	find_pieces(&s, &found->pieces);
	add_objects(found, &s);
	add_classes(found, &s);
	if (found->n > 1)
		qsort(found->list, found->n, sizeof(*found->list), compare_suspects);
	free(s.heads);
	free(s.own);
	free(s.holders);
	free(s.roles);
	bigs_release(&s.bigs);
}

void retained_suspects_release(struct retained_suspects *s)
{
	free(s->list);
	pieces_release(&s->pieces);
	*s = (struct retained_suspects){ 0 };
}
