#include "model/jfr/jfr_scan.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/intern.h"
#include "base/xalloc.h"
#include "model/jfr/jfr_datum.h"

/* Limits for the rows of a summary.  Recordings of JDK 8 to 27 have less than 300 rows. */
#define ROWS_MAX 100000
#define TEXTS_MAX (32u << 20) /* bytes of names and labels */

struct counter {
	struct jfr_summary *s;
	struct intern names; /* the number of a name is the index of its row */
	struct id_map unknown; /* id of an undeclared type -> index of its row */
	size_t texts; /* bytes of names and labels */
};

int64_t jfr_event_time(const struct jfr_event *e)
{
	const struct jfr_field *f = e->type && e->type->n_fields > 0 ? &e->type->fields[0] : NULL;
	struct jfr_cursor c = e->fields;
	struct jfr_datum d;

	if (!f || !jfr_is_timestamp(f->content) || strcmp(f->name, "startTime") != 0)
		return INT64_MIN;
	jfr_read(e->chunk, f, false, &c, &d);
	return d.kind == JFR_INTEGER ? jfr_datum_number(e->chunk, &d) : INT64_MIN;
}

static bool is_wanted(const struct jfr_consumer *c, const struct jfr_event *e)
{
	if (!c->all_types && (!e->type || !e->type->is_event))
		return false;
	return c->from_ns == INT64_MIN || jfr_event_time(e) >= c->from_ns;
}

static int scan_chunk(struct jfr_reader *r, const struct jfr_consumer *c, struct err *err)
{
	struct jfr_event e;
	int rc = 0;

	while (rc == 0 && jfr_next_event(r, &e)) {
		if (is_wanted(c, &e))
			rc = c->event(c->arg, &e, err);
	}
	return rc;
}

int jfr_scan(struct jfr_reader *r, const struct jfr_consumer *c, struct err *err)
{
	int rc;

	jfr_skip_others(r, !c->all_types);
	while ((rc = jfr_next_chunk(r, err)) > 0) {
		if (c->begin)
			c->begin(c->arg, jfr_chunk_of(r));
		rc = scan_chunk(r, c, err);
		if (c->end)
			c->end(c->arg, jfr_chunk_of(r));
		if (rc != 0)
			return rc < 0 ? -1 : 0;
	}
	return rc;
}

/* Returns the row of a name, which is added if it is new. */
static uint32_t add_row(struct counter *c, const char *name, const char *label)
{
	struct jfr_summary *s = c->s;
	uint32_t row = intern_text(&c->names, name);

	if (row < s->n)
		return row;
	c->texts += strlen(name) + (label ? strlen(label) : 0);
	s->types = xgrow(s->types, s->n, &s->cap, sizeof(*s->types));
	s->types[s->n] = (struct jfr_type_count){
		.name = xstrdup(name), .label = label ? xstrdup(label) : NULL,
	};
	s->n++;
	return row;
}

/* Returns the row of a name.  If a limit does not permit another row, the names share one row. */
static uint32_t row_of(struct counter *c, const char *name, const char *label)
{
	size_t len = strlen(name), more = len + (label ? strlen(label) : 0);
	uint32_t row = intern_find(&c->names, name, len + 1);

	if (row != ID_MAP_NONE)
		return row;
	if (c->s->n >= ROWS_MAX || more > TEXTS_MAX || c->texts > TEXTS_MAX - more)
		return add_row(c, JFR_OTHER_TYPES, NULL);
	return add_row(c, name, label);
}

static uint32_t row_of_unknown(struct counter *c, int64_t id)
{
	uint32_t row = id_map_get(&c->unknown, (uint64_t)id);
	char name[48];

	if (row != ID_MAP_NONE)
		return row;
	(void)snprintf(name, sizeof(name), "%" PRId64 " (missing event metadata)", id);
	row = row_of(c, name, NULL);
	if (c->unknown.n < ROWS_MAX)
		(void)id_map_add(&c->unknown, (uint64_t)id, row);
	return row;
}

static void begin_chunk(void *arg, const struct jfr_chunk *chunk)
{
	struct counter *c = arg;
	struct jfr_summary *s = c->s;
	int64_t end;

	if (s->chunks++ == 0) {
		s->major = chunk->major;
		s->minor = chunk->minor;
		s->start_ns = chunk->start_ns;
		(void)add_row(c, "jdk.Metadata", "Metadata");
		(void)add_row(c, "jdk.Checkpoint", "Checkpoint");
	}
	if (__builtin_add_overflow(s->duration_ns, chunk->duration_ns, &s->duration_ns))
		s->duration_ns = INT64_MAX;
	if (!__builtin_add_overflow(chunk->start_ns, chunk->duration_ns, &end) && end > s->end_ns)
		s->end_ns = end;
	for (size_t i = 0; i < chunk->metadata.n; i++) {
		struct jfr_type *type = &chunk->metadata.types[i];

		if (type->is_event)
			type->user = row_of(c, type->name, type->label);
	}
}

/*
 * If the JVM is still writing the event's chunk, sets s->end_ns to the event's time if this is
 * later.  The header of such a chunk has no duration.
 */
static void note_time(struct jfr_summary *s, const struct jfr_event *e)
{
	int64_t time = e->chunk->is_open ? jfr_event_time(e) : INT64_MIN;

	if (time > s->end_ns)
		s->end_ns = time;
}

static int count_event(void *arg, const struct jfr_event *e, struct err *err)
{
	struct counter *c = arg;
	struct jfr_summary *s = c->s;
	uint32_t row;

	(void)err;
	if (e->type_id == 0 || e->type_id == 1) {
		row = (uint32_t)e->type_id;
	} else if (e->type && e->type->is_event) {
		row = e->type->user;
		note_time(s, e);
	} else {
		row = row_of_unknown(c, e->type_id);
	}
	s->types[row].count++;
	s->types[row].bytes += e->size;
	return 0;
}

static int by_count(const void *a, const void *b)
{
	const struct jfr_type_count *x = a, *y = b;

	if (x->count != y->count)
		return x->count < y->count ? 1 : -1;
	return strcmp(x->name, y->name);
}

int jfr_summary_read(struct jfr_reader *r, int64_t from_ns, struct jfr_summary *s, struct err *err)
{
	struct counter counter = { .s = s };
	const struct jfr_consumer c = {
		.arg = &counter, .begin = begin_chunk, .event = count_event, .from_ns = from_ns,
		.all_types = true,
	};
	int rc;

	*s = (struct jfr_summary){ .n = 0 };
	rc = jfr_scan(r, &c, err);
	intern_release(&counter.names);
	id_map_release(&counter.unknown);
	if (s->n > 0)
		qsort(s->types, s->n, sizeof(*s->types), by_count);
	return rc;
}

void jfr_summary_release(struct jfr_summary *s)
{
	for (size_t i = 0; i < s->n; i++) {
		free(s->types[i].name);
		free(s->types[i].label);
	}
	free(s->types);
}
