/* jtool threads --group: prints one row for all threads with the same stack. */
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/id_map.h"
#include "base/printable.h"
#include "base/xalloc.h"
#include "render/limit.h"
#include "render/vm/threads_view.h"

#define NAMES_SHOWN 3

struct group {
	size_t first; /* index of the first thread of the group */
	size_t n;
	double cpu_percent; /* sum over all threads of the group; -1: unknown */
};

struct groups {
	struct group *list; /* the groups; the one with the most threads is first */
	size_t n;
	size_t *of; /* index in `list` of each shown thread's group */
};

static uint64_t hash_of(const struct dump_thread *t)
{
	uint64_t hash = hash_bytes(t->state, strlen(t->state));

	for (size_t i = 0; i < t->n_frames; i++)
		hash = hash * 31 + hash_bytes(t->frames[i], strlen(t->frames[i]));
	return hash;
}

static uint32_t group_of(struct groups *g, struct id_map *known, const struct thread_dump *d,
			 size_t thread)
{
	uint64_t id = hash_of(&d->threads[thread]);
	uint32_t number;

	while ((number = id_map_get(known, id)) != ID_MAP_NONE) {
		if (dump_thread_same_stack(&d->threads[g->list[number].first],
					   &d->threads[thread]))
			return number;
		id++;
	}
	(void)id_map_add(known, id, (uint32_t)g->n);
	g->list[g->n] = (struct group){ .first = thread, .cpu_percent = -1 };
	return (uint32_t)g->n++;
}

static int by_size(const void *a, const void *b)
{
	const struct group *x = a, *y = b;

	if (x->n != y->n)
		return x->n < y->n ? 1 : -1;
	return x->first < y->first ? -1 : x->first > y->first;
}

static void make_groups(const struct threads_view *v, struct groups *g)
{
	struct id_map known = { .n = 0 };
	size_t *rank;

	*g = (struct groups){
		.list = xcalloc(v->n + 1, sizeof(*g->list)),
		.of = xcalloc(v->n + 1, sizeof(*g->of)),
	};
	for (size_t i = 0; i < v->n; i++) {
		const struct dump_thread *t = &v->dump->threads[v->rows[i]];
		struct group *group;

		g->of[i] = group_of(g, &known, v->dump, v->rows[i]);
		group = &g->list[g->of[i]];
		group->n++;
		if (t->cpu_percent >= 0)
			group->cpu_percent = (group->cpu_percent < 0 ? 0 : group->cpu_percent) +
					     t->cpu_percent;
	}
	id_map_release(&known);
	/*
	 * Sorting changes the indexes of the groups.  So while the groups are sorted, of[i] is the
	 * index of the group's first thread instead of the group's own index.
	 */
	rank = xcalloc(v->dump->n + 1, sizeof(*rank));
	for (size_t i = 0; i < v->n; i++)
		g->of[i] = g->list[g->of[i]].first;
	qsort(g->list, g->n, sizeof(*g->list), by_size);
	for (size_t i = 0; i < g->n; i++)
		rank[g->list[i].first] = i;
	for (size_t i = 0; i < v->n; i++)
		g->of[i] = rank[g->of[i]];
	free(rank);
}

static void release(struct groups *g)
{
	free(g->list);
	free(g->of);
}

static void add_names(const struct threads_view *v, const struct groups *g, size_t group,
		      struct buf *out)
{
	size_t shown = 0, n = g->list[group].n;

	for (size_t i = 0; i < v->n && shown < NAMES_SHOWN; i++) {
		const char *name = v->dump->threads[v->rows[i]].name;

		if (g->of[i] != group)
			continue;
		buf_adds(out, shown++ > 0 ? ", " : "");
		printable_add(out, *name ? name : "(no name)", *name ? strlen(name) : 9);
	}
	if (n > shown)
		buf_addf(out, " and %zu more", n - shown);
}

void threads_view_print_groups(const struct threads_view *v, FILE *out)
{
	_cleanup_buf_ struct buf text = BUF_INIT;
	struct groups groups;
	size_t n;

	make_groups(v, &groups);
	n = limit_rows(v->limit, false, LIMIT_ROWS, groups.n);
	for (size_t i = 0; i < n; i++) {
		const struct group *group = &groups.list[i];
		const struct dump_thread *t = &v->dump->threads[group->first];

		buf_addf(&text, "%s%zu thread%s, ", i > 0 ? "\n" : "", group->n,
			 group->n == 1 ? "" : "s");
		printable_add(&text, t->state, strlen(t->state));
		if (group->cpu_percent >= 0)
			buf_addf(&text, ", %.1f %% CPU", group->cpu_percent);
		buf_adds(&text, ": ");
		add_names(v, &groups, i, &text);
		buf_addc(&text, '\n');
		for (size_t k = 0; k < t->n_frames; k++) {
			buf_adds(&text, "    at ");
			printable_add(&text, t->frames[k], strlen(t->frames[k]));
			buf_addc(&text, '\n');
		}
	}
	limit_add_more(&text, groups.n - n, "stack", "stacks");
	fwrite(text.data, 1, text.len, out);
	release(&groups);
}

struct json *threads_view_groups_json(const struct threads_view *v)
{
	struct json *json = json_object(), *list = json_array(), **names;
	struct groups groups;
	size_t n;

	make_groups(v, &groups);
	n = limit_rows(v->limit, true, 0, groups.n);
	names = xcalloc(groups.n + 1, sizeof(struct json *));
	for (size_t i = 0; i < n; i++)
		names[i] = json_array();
	for (size_t i = 0; i < v->n; i++) {
		if (groups.of[i] < n)
			json_put_text(names[groups.of[i]], NULL,
				      v->dump->threads[v->rows[i]].name);
	}
	for (size_t i = 0; i < n; i++) {
		const struct dump_thread *t = &v->dump->threads[groups.list[i].first];
		struct json *group = json_object(), *stack = json_array();

		json_put_unsigned(group, "count", groups.list[i].n);
		json_put_text(group, "state", t->state);
		if (groups.list[i].cpu_percent >= 0)
			json_put_real(group, "cpu_percent", groups.list[i].cpu_percent);
		else
			json_put_null(group, "cpu_percent");
		json_put(group, "threads", names[i]);
		for (size_t k = 0; k < t->n_frames; k++)
			json_put_text(stack, NULL, t->frames[k]);
		json_put(group, "stack", stack);
		json_put(list, NULL, group);
	}
	threads_view_put_source(v, json);
	json_put(json, "groups", list);
	free(names);
	release(&groups);
	return json;
}
