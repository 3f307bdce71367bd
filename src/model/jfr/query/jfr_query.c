#include "model/jfr/query/jfr_query.h"

#include <string.h>

#include "base/xalloc.h"
#include "model/jfr/jfr_pools.h"
#include "model/jfr/query/jfr_query_internal.h"

struct jfr_queries *jfr_queries_new(size_t max_memory)
{
	struct jfr_queries *q = xcalloc(1, sizeof(*q));

	q->max_memory = max_memory > 0 ? max_memory : SIZE_MAX;
	return q;
}

static void free_sums(struct jfr_query_run *run)
{
	for (size_t i = 0; run->sums && i < run->n_rows * run->n_columns; i++)
		free(run->sums[i].values);
	free(run->sums);
}

static void free_bindings(struct jfr_queries *q)
{
	for (size_t i = 1; i < q->n_bindings; i++) {
		struct jfr_binding *b = &q->bindings[i];

		jfr_getter_release(&b->condition);
		for (size_t j = 0; j < JFR_GROUP_MAX; j++)
			jfr_getter_release(&b->group[j]);
		for (size_t j = 0; j < JFR_COLUMNS_MAX; j++)
			jfr_getter_release(&b->columns[j]);
	}
	q->n_bindings = 1;
	q->used_by_chunk = 0;
}

void jfr_queries_free(struct jfr_queries *q)
{
	if (!q)
		return;
	free_bindings(q);
	for (size_t i = 0; i < q->n; i++) {
		struct jfr_query_run *run = q->runs[i];

		free_sums(run);
		free(run->cells);
		free(run->order);
		id_map_release(&run->rows);
		intern_release(&run->texts);
		intern_release(&run->groups);
		free(run);
	}
	free(q->runs);
	free(q->bindings);
	buf_release(&q->scratch);
	free(q);
}

struct jfr_query_run *jfr_queries_add(struct jfr_queries *q, const struct jfr_query *query)
{
	struct jfr_query_run *run = xcalloc(1, sizeof(*run));

	run->query = query;
	run->owner = q;
	run->n_columns = query->n_columns;
	while (run->n_group < JFR_GROUP_MAX && query->group[run->n_group])
		run->n_group++;
	q->runs = xgrow(q->runs, q->n, &q->cap, sizeof(*q->runs));
	q->runs[q->n++] = run;
	return run;
}

/*
 * Removes a prefix such as "AB:" from a path.  Returns whether the path applies to the source
 * `alias`.
 */
static bool is_of_source(const char **path, char alias)
{
	const char *colon = strchr(*path, ':');
	bool is_listed = !colon || (alias && memchr(*path, alias, (size_t)(colon - *path)));

	*path = colon ? colon + 1 : *path;
	return is_listed;
}

static void bind(struct jfr_queries *q, struct jfr_query_run *run, unsigned source,
		 struct jfr_type *type)
{
	const struct jfr_query_source *s = &run->query->sources[source];
	struct jfr_binding *b;

	q->bindings = xgrow(q->bindings, q->n_bindings, &q->cap_bindings, sizeof(*q->bindings));
	b = &q->bindings[q->n_bindings];
	memset(b, 0, sizeof(*b));
	b->run = run;
	b->source = source;
	b->next = type->user;
	if (s->field)
		jfr_getter_bind(&b->condition, type, s->field);
	for (size_t i = 0; i < run->n_group; i++) {
		jfr_getter_bind(&b->group[i], type, run->query->group[i]);
		b->group[i].has_group = true;
	}
	for (size_t i = 0; i < run->n_columns; i++) {
		const char *path = run->query->columns[i].path;

		if (is_of_source(&path, s->alias))
			jfr_getter_bind(&b->columns[i], type, path);
		b->columns[i].has_group = run->query->columns[i].aggregate == JFR_UNIQUE;
		for (size_t j = 0; j < run->n_group; j++)
			b->columns[i].is_group |= strcmp(path, run->query->group[j]) == 0;
	}
	type->user = (uint32_t)q->n_bindings++;
	run->is_known = true;
}

static void note_chunk(struct jfr_extent *x, const struct jfr_chunk *chunk)
{
	if (x->chunks++ == 0)
		x->start_ns = chunk->start_ns;
	if (__builtin_add_overflow(x->duration_ns, chunk->duration_ns, &x->duration_ns))
		x->duration_ns = INT64_MAX;
}

static void begin_chunk(void *arg, const struct jfr_chunk *chunk)
{
	struct jfr_queries *q = arg;

	free_bindings(q);
	note_chunk(&q->extent, chunk);
	for (size_t i = 0; i < chunk->metadata.n; i++) {
		struct jfr_type *type = &chunk->metadata.types[i];

		for (size_t j = 0; type->is_event && j < q->n; j++) {
			const struct jfr_query *query = q->runs[j]->query;

			for (unsigned k = 0; k < query->n_sources; k++) {
				const char *event = query->sources[k].event;

				if (!event || strcmp(event, type->name) == 0)
					bind(q, q->runs[j], k, type);
			}
		}
		type->is_skipped = q->skips && type->user == 0;
	}
}

static bool meets_condition(struct jfr_binding *b, const struct jfr_event *e)
{
	const struct jfr_query_source *s = &b->run->query->sources[b->source];
	struct jfr_cell cell;
	uint32_t group;

	if (!s->field)
		return true;
	jfr_getter_read(&b->condition, b->run, e, &cell, &group);
	if (cell.kind == JFR_CELL_TRUTH)
		return strcmp(s->value, cell.integer ? "true" : "false") == 0;
	return cell.kind == JFR_CELL_TEXT && strcmp(jfr_query_text(b->run, &cell), s->value) == 0;
}

/* Returns the row of sums for the event's group; adds a row for a new group. */
static struct jfr_sum *find_row(struct jfr_binding *b, const struct jfr_event *e)
{
	struct jfr_query_run *run = b->run;
	uint32_t groups[JFR_GROUP_MAX] = { 0 };
	uint32_t row = (uint32_t)run->n_rows;
	struct jfr_cell ignored;

	for (size_t i = 0; i < run->n_group; i++)
		jfr_getter_read(&b->group[i], run, e, &ignored, &groups[i]);
	if (run->n_group > 0 || run->query->is_form)
		row = id_map_add(&run->rows, (uint64_t)groups[0] << 32 | groups[1], row);
	if (row == run->n_rows) {
		run->sums = xgrow(run->sums, run->n_rows, &run->cap,
				  run->n_columns * sizeof(*run->sums));
		memset(&run->sums[row * run->n_columns], 0, run->n_columns * sizeof(*run->sums));
		run->n_rows++;
		run->owner->used += run->n_columns * sizeof(*run->sums);
	}
	return &run->sums[row * run->n_columns];
}

/*
 * Returns the time at which an event was recorded: the end of the period that the event describes.
 */
static int64_t end_time(const struct jfr_event *e)
{
	int64_t time = jfr_event_time(e), duration = 0;
	struct jfr_cursor c = e->fields;
	struct jfr_datum d;

	if (e->type->n_fields > 1 && strcmp(e->type->fields[1].name, "duration") == 0) {
		jfr_skip_field(&c, &e->type->fields[0]);
		jfr_read(e->chunk, &e->type->fields[1], false, &c, &d);
		duration = d.kind == JFR_INTEGER ? jfr_datum_number(e->chunk, &d) : 0;
	}
	return duration > 0 && !__builtin_add_overflow(time, duration, &duration) ? duration : time;
}

static bool needs_time(enum jfr_aggregate a)
{
	return a == JFR_ANY || a == JFR_FIRST || a == JFR_LAST || a == JFR_LATEST ||
	       a == JFR_DIFFERENCE;
}

static void add_event(struct jfr_binding *b, const struct jfr_event *e)
{
	struct jfr_query_run *run = b->run;
	struct jfr_sum *sums;
	int64_t time = INT64_MIN;

	if (!meets_condition(b, e))
		return;
	sums = find_row(b, e);
	run->events++;
	for (unsigned i = 0; i < run->n_columns; i++) {
		enum jfr_aggregate a = run->query->columns[i].aggregate;
		struct jfr_cell cell = { .kind = JFR_CELL_NONE };
		uint32_t group = 0;

		if (b->columns[i].kind == JFR_GET_NOTHING)
			continue;
		if (a == JFR_ANY && b->columns[i].is_group && sums[i].cell.kind != JFR_CELL_NONE)
			continue;
		if (time == INT64_MIN && needs_time(a))
			time = end_time(e);
		if (a != JFR_COUNT_OF)
			jfr_getter_read(&b->columns[i], run, e, &cell, &group);
		jfr_sum_add(run, &sums[i], i, &cell, group, time);
	}
}

static int take_event(void *arg, const struct jfr_event *e, struct err *err)
{
	struct jfr_queries *q = arg;

	q->extent.events++;
	for (uint32_t i = e->type->user; i != 0; i = q->bindings[i].next)
		add_event(&q->bindings[i], e);
	if (q->used + q->used_by_chunk > q->max_memory)
		return err_set(err, EXIT_PARTIAL,
			       "the results do not fit into %zu MB; allow more with --max-memory "
			       "SIZE", q->max_memory >> 20);
	return 0;
}

int jfr_queries_run(struct jfr_queries *q, struct jfr_reader *r, int64_t from_ns, struct err *err)
{
	const struct jfr_consumer c = {
		.arg = q, .begin = begin_chunk, .event = take_event, .from_ns = from_ns,
	};
	int rc;

	q->n_bindings = 1;
	q->skips = from_ns == INT64_MIN;
	rc = jfr_scan(r, &c, err);
	q->extent.events += jfr_skipped_events(r);
	free_bindings(q);
	for (size_t i = 0; rc == 0 && i < q->n; i++)
		jfr_query_finish(q->runs[i]);
	return rc;
}

const struct jfr_extent *jfr_queries_extent(const struct jfr_queries *q)
{
	return &q->extent;
}

size_t jfr_query_rows(const struct jfr_query_run *run)
{
	return run->n_rows;
}

struct jfr_cell jfr_query_cell(const struct jfr_query_run *run, size_t row, size_t column)
{
	struct jfr_cell cell = run->cells[row * run->n_columns + column];
	double sum = run->share_sums[column];

	if (!run->query->columns[column].is_share || cell.kind == JFR_CELL_NONE)
		return cell;
	cell.real = cell.kind == JFR_CELL_REAL ? cell.real : (double)cell.integer;
	cell.real = sum != 0 ? cell.real / sum : 0;
	cell.kind = JFR_CELL_REAL;
	cell.content = JFR_PERCENTAGE;
	return cell;
}

const char *jfr_query_text(const struct jfr_query_run *run, const struct jfr_cell *cell)
{
	return intern_get(&run->texts, cell->text, NULL);
}

uint64_t jfr_query_events(const struct jfr_query_run *run)
{
	return run->events;
}

bool jfr_query_is_known(const struct jfr_query_run *run)
{
	return run->is_known;
}
