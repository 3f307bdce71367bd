#include "model/heap/refpaths.h"

#include "base/xalloc.h"
#include "model/heap/path_tree.h"

static bool is_reached(const struct graph_bfs *bfs, uint32_t node)
{
	return bfs->parent[node] != GRAPH_NONE;
}

static void count_steps(struct path_tree *s, const struct refpaths_targets *targets)
{
	for (size_t i = 0; i < targets->n; i++) {
		uint32_t node = targets->nodes[i], length, last;
		struct path_tree_step *step;

		if (!is_reached(s->bfs, node))
			continue;
		last = path_tree_last(s, node, &length);
		step = &s->steps[last];
		if (step->count++ > 0 && step->length <= length)
			continue;
		step->example = node;
		step->length = length;
	}
}

static int compare_groups(const void *a, const void *b)
{
	const struct refpaths_group *x = a, *y = b;

	if (x->count != y->count)
		return x->count < y->count ? 1 : -1;
	if (x->length != y->length)
		return x->length < y->length ? -1 : 1;
	return x->step < y->step ? -1 : 1;
}

static void make_groups(const struct path_tree *s, struct refpaths *paths)
{
	size_t cap = 0;

	for (uint32_t i = 0; i < s->n_steps; i++) {
		const struct path_tree_step *step = &s->steps[i];

		if (step->count == 0)
			continue;
		paths->groups = xgrow(paths->groups, paths->n_groups, &cap, sizeof(*paths->groups));
		paths->groups[paths->n_groups++] = (struct refpaths_group){
			.count = step->count,
			.example = step->example,
			.length = step->length,
			.step = i,
			.n_stretches = (size_t)step->level + 1,
		};
		paths->n_reached += step->count;
	}
	if (paths->n_groups > 0)
		qsort(paths->groups, paths->n_groups, sizeof(*paths->groups), compare_groups);
}

static void note_run(struct refpaths_group *group, uint32_t level, uint32_t run)
{
	struct refpaths_stretch *stretch = &group->stretches[level];

	if (stretch->least == 0 || run < stretch->least)
		stretch->least = run;
	if (run > stretch->most)
		stretch->most = run;
}

static uint64_t thread_of(const struct path_tree *s, uint32_t node)
{
	const struct graph_root *root = graph_root_of(s->graph, node);

	return root ? root->thread : 0;
}

/*
 * Updates the least and greatest lengths of the group's stretches with the path to `target`, from
 * its end to the root.  path_tree_node.run of the last node of a stretch is the stretch's length.
 * Stops at a node whose member `seen` is `mark`: an earlier call has measured the path up to it.
 */
static void measure_way(struct path_tree *s, struct refpaths_group *group, uint32_t mark,
			uint32_t target, uint64_t *thread)
{
	uint32_t step = group->step, node = target;

	note_run(group, s->steps[step].level,
		 refpaths_is_class_object(s, target) ? 1 : s->nodes[target].run);
	while (s->bfs->parent[node] != node) {
		struct path_tree_node *state;

		node = s->bfs->parent[node];
		state = &s->nodes[node];
		if (state->step - 1 != step) {
			step = state->step - 1;
			note_run(group, s->steps[step].level, state->run);
		}
		if (state->seen == mark)
			return;
		state->seen = mark;
	}
	if (*thread == 0)
		*thread = thread_of(s, node);
	else if (*thread != thread_of(s, node))
		group->threads_differ = true;
}

static void measure_group(struct path_tree *s, struct refpaths_group *group, uint32_t mark,
			  const uint32_t *targets)
{
	uint64_t thread = 0;

	group->stretches = xcalloc(group->n_stretches, sizeof(*group->stretches));
	for (uint64_t i = 0; i < group->count; i++)
		measure_way(s, group, mark, targets[i], &thread);
}

/* Returns the targets of the examined groups, sorted by group; the caller frees the array. */
static uint32_t *sort_targets(struct path_tree *s, const struct refpaths_targets *targets,
			      const struct refpaths *paths)
{
	_cleanup_free_ size_t *ends = xcalloc(paths->n_examined, sizeof(*ends));
	uint32_t *sorted, length;
	size_t n = 0;

	for (uint32_t i = 0; i < paths->n_examined; i++) {
		s->steps[paths->groups[i].step].group = i + 1;
		ends[i] = n;
		n += paths->groups[i].count;
	}
	sorted = xreallocarray(NULL, n, sizeof(*sorted));
	for (size_t i = 0; i < targets->n; i++) {
		uint32_t last, group;

		if (!is_reached(s->bfs, targets->nodes[i]))
			continue;
		last = path_tree_last(s, targets->nodes[i], &length);
		group = s->steps[last].group;
		if (group > 0)
			sorted[ends[group - 1]++] = targets->nodes[i];
	}
	return sorted;
}

static void examine_groups(struct path_tree *s, const struct refpaths_targets *targets,
			   struct refpaths *paths)
{
	_cleanup_free_ uint32_t *sorted = sort_targets(s, targets, paths);
	const uint32_t *at = sorted;

	for (uint32_t i = 0; i < paths->n_examined; i++) {
		measure_group(s, &paths->groups[i], i + 1, at);
		at += paths->groups[i].count;
	}
}

/* Counts the targets to which there are paths, but none without weak references. */
static uint64_t count_weak(const struct graph *g, const struct refpaths_targets *targets,
			   const struct graph_bfs *strong)
{
	struct graph_bfs bfs;
	uint64_t n = 0;

	graph_bfs(g, true, &bfs);
	for (size_t i = 0; i < targets->n; i++)
		n += !is_reached(strong, targets->nodes[i]) && is_reached(&bfs, targets->nodes[i]);
	graph_bfs_release(&bfs);
	return n;
}

void refpaths_find(const struct heap *h, const struct refpaths_targets *targets, bool weak,
		   size_t n_examined, struct refpaths *paths)
{
	struct path_tree s;

	*paths = (struct refpaths){ .n_targets = targets->n };
	if (targets->n == 0)
		return;
	graph_bfs_to(h->graph, weak, targets->nodes, targets->n, &paths->bfs);
	path_tree_init(&s, h, &paths->bfs);
	count_steps(&s, targets);
	make_groups(&s, paths);
	paths->n_examined = n_examined < paths->n_groups ? n_examined : paths->n_groups;
	examine_groups(&s, targets, paths);
	path_tree_release(&s);
	if (!weak && paths->n_reached < targets->n)
		paths->n_weak = count_weak(h->graph, targets, &paths->bfs);
}

void refpaths_release(struct refpaths *paths)
{
	for (size_t i = 0; i < paths->n_examined; i++)
		free(paths->groups[i].stretches);
	free(paths->groups);
	graph_bfs_release(&paths->bfs);
	*paths = (struct refpaths){ 0 };
}
