#include "model/heap/retained_rows.h"

#include "base/xalloc.h"

/* State of the search for suspects among the big objects. */
struct search {
	struct big_objects bigs;
	/*
	 * heads[i]: the first object (the head) of the list or tree to which big object i belongs;
	 * i if it belongs to none; i and heads[i] are indices of bigs.list
	 */
	uint32_t *heads;
	/*
	 * own[i], if big object i is a head: bytes that its list or tree retains, minus the bytes
	 * that the big lists and trees below it retain
	 */
	uint64_t *own;
	uint32_t *holders;
	uint8_t *roles;
};

/*
 * Fills in `heads` and `own`.  The loop in bigs.order visits an object's dominator before the
 * object, so the dominator's head is known already.
 */
static void find_heads(struct search *s)
{
	for (uint32_t i = 0; i < s->bigs.n; i++) {
		s->heads[i] = i;
		s->own[i] = big_objects_retained(&s->bigs, i);
	}
	for (size_t i = 0; i < s->bigs.n; i++) {
		uint32_t number = s->bigs.order[i], holder = s->bigs.list[number].above;

		if (holder == GRAPH_NONE)
			continue;
		if (big_objects_continues(&s->bigs, s->bigs.list[number].node))
			s->heads[number] = s->heads[holder];
		else
			s->own[s->heads[holder]] -= big_objects_retained(&s->bigs, number);
	}
}

static bool is_suspect(const struct search *s, uint32_t number)
{
	return s->heads[number] == number && s->own[number] >= s->bigs.least;
}

static void find_pieces(struct search *s, struct held_by_class *p)
{
	const struct held_by_class_wanted wanted = { s->holders, s->roles, (uint32_t)s->bigs.n,
						     true };

	for (uint32_t i = 0; i < s->bigs.n; i++) {
		uint32_t head = s->heads[i];

		s->holders[i] = is_suspect(s, head) ? head : GRAPH_NONE;
		s->roles[i] = head == i ? HELD_APART : HELD_SHALLOW;
	}
	held_by_class_find(p, &s->bigs, &wanted);
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
			.retained = big_objects_retained(&s->bigs, i),
			.held = held_by_class_of(&found->pieces, i),
		};
	}
}

static void add_classes(struct retained_suspects *found, const struct search *s)
{
	const struct held_by_class_sum all = held_by_class_of(&found->pieces, (uint32_t)s->bigs.n);

	for (size_t i = all.first; i < all.first + all.n_classes; i++) {
		const struct held_row *piece = &found->pieces.list[i];

		if (piece->bytes < s->bigs.least)
			return; /* the rows are sorted: the next ones have fewer bytes */
		/*
		 * Class objects refer to unrelated data, so the class java.lang.Class is not a
		 * suspect.
		 */
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
			    const struct dominators *tree, uint64_t least)
{
	struct search s = { .heads = NULL };

	*found = (struct retained_suspects){ 0 };
	big_objects_find(&s.bigs, g, tree, least);
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
	big_objects_release(&s.bigs);
}

void retained_suspects_release(struct retained_suspects *s)
{
	free(s->list);
	held_by_class_release(&s->pieces);
	*s = (struct retained_suspects){ 0 };
}
