#include "model/refpaths.h"

#include "base/xalloc.h"
#include "model/refpaths_steps.h"

static bool is_reached(const struct graph_ways *ways, uint32_t node)
{
	return ways->parent[node] != GRAPH_NONE;
}

static void count_steps(struct refpaths_steps *s, const struct refpaths_targets *targets)
{
	for (size_t i = 0; i < targets->n; i++) {
		uint32_t node = targets->nodes[i], length, last;
		struct refpaths_step *step;

		if (!is_reached(s->ways, node))
			continue;
		last = refpaths_steps_last(s, node, &length);
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

static void make_groups(const struct refpaths_steps *s, struct refpaths *paths)
{
	size_t cap = 0;

	for (uint32_t i = 0; i < s->n_steps; i++) {
		const struct refpaths_step *step = &s->steps[i];

		if (step->count == 0)
			continue;
		paths->groups = xgrow(paths->groups, paths->n_groups, &cap,
				      sizeof(*paths->groups));
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

static uint64_t thread_of(const struct refpaths_steps *s, uint32_t node)
{
	const struct graph_root *root = graph_root_of(s->graph, node);

	return root ? root->thread : 0;
}

/* Where a stretch ends on the way up from a target, its number of objects is known. */
static void measure_way(struct refpaths_steps *s, struct refpaths_group *group, uint32_t mark,
			uint32_t target, uint64_t *thread)
{
	uint32_t step = group->step, node = target;

	note_run(group, s->steps[step].level,
		 refpaths_is_class_object(s, target) ? 1 : s->spots[target].run);
	while (s->ways->parent[node] != node) {
		struct refpaths_spot *spot;

		node = s->ways->parent[node];
		spot = &s->spots[node];
		if (spot->step - 1 != step) {
			step = spot->step - 1;
			note_run(group, s->steps[step].level, spot->run);
		}
		if (spot->seen == mark)
			return;
		spot->seen = mark;
	}
	if (*thread == 0)
		*thread = thread_of(s, node);
	else if (*thread != thread_of(s, node))
		group->threads_differ = true;
}

static void measure_group(struct refpaths_steps *s, struct refpaths_group *group, uint32_t mark,
			  const uint32_t *targets)
{
	uint64_t thread = 0;

	group->stretches = xcalloc(group->n_stretches, sizeof(*group->stretches));
	for (uint64_t i = 0; i < group->count; i++)
		measure_way(s, group, mark, targets[i], &thread);
}

/* The targets of the first groups, sorted by group: there may be many that are in none. */
static uint32_t *sort_targets(struct refpaths_steps *s, const struct refpaths_targets *targets,
			      const struct refpaths *paths)
{
	_cleanup_free_ size_t *ends = xcalloc(paths->n_looked_into, sizeof(*ends));
	uint32_t *sorted, length;
	size_t n = 0;

	for (uint32_t i = 0; i < paths->n_looked_into; i++) {
		s->steps[paths->groups[i].step].group = i + 1;
		ends[i] = n;
		n += paths->groups[i].count;
	}
	sorted = xreallocarray(NULL, n, sizeof(*sorted));
	for (size_t i = 0; i < targets->n; i++) {
		uint32_t last, group;

		if (!is_reached(s->ways, targets->nodes[i]))
			continue;
		last = refpaths_steps_last(s, targets->nodes[i], &length);
		group = s->steps[last].group;
		if (group > 0)
			sorted[ends[group - 1]++] = targets->nodes[i];
	}
	return sorted;
}

static void look_into_groups(struct refpaths_steps *s, const struct refpaths_targets *targets,
			     struct refpaths *paths)
{
	_cleanup_free_ uint32_t *sorted = sort_targets(s, targets, paths);
	const uint32_t *at = sorted;

	for (uint32_t i = 0; i < paths->n_looked_into; i++) {
		measure_group(s, &paths->groups[i], i + 1, at);
		at += paths->groups[i].count;
	}
}

/* Of those without a way. */
static uint64_t count_weak(const struct graph *g, const struct refpaths_targets *targets,
			   const struct graph_ways *strong)
{
	struct graph_ways ways;
	uint64_t n = 0;

	graph_find_ways(g, true, &ways);
	for (size_t i = 0; i < targets->n; i++)
		n += !is_reached(strong, targets->nodes[i]) && is_reached(&ways, targets->nodes[i]);
	graph_ways_release(&ways);
	return n;
}

void refpaths_find(const struct heap *h, const struct refpaths_targets *targets, bool weak,
		   size_t n_told, struct refpaths *paths)
{
	struct refpaths_steps s;

	*paths = (struct refpaths){ .n_targets = targets->n };
	if (targets->n == 0)
		return;
	graph_find_ways_to(h->graph, weak, targets->nodes, targets->n, &paths->ways);
	refpaths_steps_init(&s, h, &paths->ways);
	count_steps(&s, targets);
	make_groups(&s, paths);
	paths->n_looked_into = n_told < paths->n_groups ? n_told : paths->n_groups;
	look_into_groups(&s, targets, paths);
	refpaths_steps_release(&s);
	if (!weak && paths->n_reached < targets->n)
		paths->n_weak = count_weak(h->graph, targets, &paths->ways);
}

void refpaths_release(struct refpaths *paths)
{
	for (size_t i = 0; i < paths->n_looked_into; i++)
		free(paths->groups[i].stretches);
	free(paths->groups);
	graph_ways_release(&paths->ways);
	*paths = (struct refpaths){ 0 };
}
