/* Reads the values of an event that a query groups by or adds up. */
#include <inttypes.h>
#include <string.h>

#include "base/xalloc.h"
#include "model/jfr/jfr_names.h"
#include "model/jfr/query/jfr_query_internal.h"

/*
 * ELEMENT_BYTES: the most memory that an element of `size` bytes takes in an array that grows by
 * doubling, with an entry in a struct id_map.  TEXT_BYTES: the most memory that a text takes in a
 * struct intern, without its characters.
 */
#define ELEMENT_BYTES(size) (2 * (size) + 4 * sizeof(struct id_map_entry))
#define TEXT_BYTES ELEMENT_BYTES(sizeof(size_t))

void jfr_getter_bind(struct jfr_getter *g, const struct jfr_type *type, const char *path)
{
	static const struct {
		const char *path;
		enum jfr_getter_kind kind;
	} frames[] = {
		{ "stackTrace.topFrame", JFR_GET_TOP },
		{ "stackTrace.topApplicationFrame", JFR_GET_TOP_APPLICATION },
		{ "stackTrace.topNotInitFrame", JFR_GET_TOP_NOT_INIT },
	};

	*g = (struct jfr_getter){ .kind = JFR_GET_NOTHING };
	if (strcmp(path, "*") == 0)
		g->kind = JFR_GET_EVENT;
	else if (strcmp(path, "eventType.label") == 0)
		g->kind = JFR_GET_LABEL;
	for (size_t i = 0; i < ARRAY_SIZE(frames); i++) {
		if (strcmp(path, frames[i].path) == 0 &&
		    jfr_path_find(type, "stackTrace", &g->path))
			g->kind = frames[i].kind;
	}
	if (g->kind == JFR_GET_NOTHING && jfr_path_find(type, path, &g->path)) {
		bool is_setting = strcmp(type->name, "jdk.ActiveSetting") == 0 &&
				  strcmp(path, "id") == 0;

		g->kind = is_setting ? JFR_GET_SETTING_TYPE : JFR_GET_PATH;
	}
	if (g->path.n > 0) {
		const struct jfr_field *f = &type->fields[g->path.fields[0]];

		g->is_constant = f->is_constant && !f->is_array;
	}
}

void jfr_getter_release(struct jfr_getter *g)
{
	id_map_release(&g->seen_keys);
	free(g->seen);
	g->seen = NULL;
}

/* Adds the text in the owner's `scratch` to `in`, a member of `run`, and returns its number. */
static uint32_t add_text(struct jfr_query_run *run, struct intern *in)
{
	const struct buf *text = &run->owner->scratch;
	size_t n = in->n;
	uint32_t number = intern_text(in, buf_str(text));

	if (in->n > n)
		run->owner->used += text->len + TEXT_BYTES;
	return number;
}

static void set_text(struct jfr_query_run *run, struct jfr_cell *cell)
{
	cell->kind = JFR_CELL_TEXT;
	cell->text = add_text(run, &run->texts);
}

static bool is_named(const struct jfr_chunk *chunk, const struct jfr_datum *d, const char *name)
{
	_cleanup_buf_ struct buf text = BUF_INIT;

	jfr_name_add(&text, chunk, d);
	return strcmp(buf_str(&text), name) == 0;
}

static bool is_wanted_frame(const struct jfr_chunk *chunk, const struct jfr_datum *method,
			    enum jfr_getter_kind kind)
{
	struct jfr_datum d, loader;

	if (method->kind != JFR_FIELDS)
		return false;
	if (kind == JFR_GET_TOP_NOT_INIT) {
		jfr_member(chunk, method, "name", &d);
		return !is_named(chunk, &d, "<init>");
	}
	if (kind == JFR_GET_TOP_APPLICATION) {
		jfr_member(chunk, method, "type", &d);
		jfr_member(chunk, &d, "classLoader", &loader);
		return loader.kind == JFR_FIELDS && !is_named(chunk, &loader, "bootstrap");
	}
	return true;
}

/* Appends a key for a method, with the key of its class: two classes can have the same name. */
static void add_method_key(struct buf *out, const struct jfr_chunk *chunk,
			   const struct jfr_datum *method)
{
	struct jfr_datum class;

	jfr_method_add(out, chunk, method);
	jfr_member(chunk, method, "type", &class);
	buf_addf(out, "#%" PRId64, class.key);
}

static void read_top(const struct jfr_getter *g, struct jfr_query_run *run,
		     const struct jfr_event *e, struct jfr_seen *seen)
{
	struct buf *text = &run->owner->scratch;
	struct jfr_datum trace;
	struct jfr_stack stack;
	struct jfr_frame frame;

	jfr_get(e, &g->path, &trace);
	jfr_stack_read(e->chunk, &trace, &stack);
	while (jfr_stack_next(&stack, &frame)) {
		if (!is_wanted_frame(e->chunk, &frame.method, g->kind))
			continue;
		jfr_method_add(text, e->chunk, &frame.method);
		set_text(run, &seen->cell);
		buf_reset(text);
		add_method_key(text, e->chunk, &frame.method);
		break;
	}
}

static void set_number(const struct jfr_event *e, const struct jfr_datum *d, struct jfr_cell *cell)
{
	const struct jfr_field *f = d->field; /* not NULL: only jfr_read() returns numbers */
	enum jfr_content content = f->content;

	cell->content = jfr_is_timestamp(content)  ? JFR_TIMESTAMP_TICKS
			: jfr_is_timespan(content) ? JFR_TIMESPAN_NS
						   : content;
	cell->is_rate = f->is_rate;
	cell->kind = JFR_CELL_INTEGER;
	cell->integer = content == JFR_DATA_BITS ? d->integer : jfr_datum_number(e->chunk, d);
	if (jfr_datum_is_unlimited(d)) {
		cell->kind = d->integer == INT64_MAX ? JFR_CELL_INTEGER : JFR_CELL_NONE;
		cell->integer = INT64_MAX;
		cell->is_unlimited = true;
	} else if (content == JFR_PLAIN && !f->is_unsigned && d->integer == INT64_MIN) {
		cell->kind = JFR_CELL_NONE;
	}
}

static void add_stack_key(struct buf *out, const struct jfr_event *e, const struct jfr_datum *trace)
{
	struct jfr_stack stack;
	struct jfr_frame frame;

	jfr_stack_read(e->chunk, trace, &stack);
	while (jfr_stack_next(&stack, &frame)) {
		add_method_key(out, e->chunk, &frame.method);
		buf_addc(out, '\n');
	}
}

/*
 * Sets the cell of an object, and appends the name of its group to the owner's `scratch`.  Two
 * classes, loaders or threads can have the same name, so the object's key determines the group
 * together with the name.
 */
static void set_object(struct jfr_query_run *run, const struct jfr_event *e,
		       const struct jfr_datum *d, struct jfr_seen *seen)
{
	struct buf *text = &run->owner->scratch;

	if (d->kind == JFR_TEXT || d->kind == JFR_FIELDS) {
		jfr_name_add(text, e->chunk, d);
		set_text(run, &seen->cell);
	}
	if (d->kind == JFR_FIELDS && strcmp(d->type->name, "jdk.types.StackTrace") == 0)
		add_stack_key(text, e, d);
	else if (d->kind == JFR_FIELDS && d->has_key)
		buf_addf(text, "#%" PRId64, d->key);
	if (d->kind == JFR_NOTHING)
		buf_adds(text, "#null");
}

static void set_value(struct jfr_query_run *run, const struct jfr_event *e,
		      const struct jfr_datum *d, struct jfr_seen *seen)
{
	switch (d->kind) {
	case JFR_TRUTH:
		seen->cell.kind = JFR_CELL_TRUTH;
		seen->cell.integer = d->integer;
		break;
	case JFR_INTEGER:
	case JFR_UNSIGNED:
	case JFR_CHARACTER:
		set_number(e, d, &seen->cell);
		break;
	case JFR_REAL:
		seen->cell.kind = d->real == d->real ? JFR_CELL_REAL : JFR_CELL_NONE;
		seen->cell.content = d->field ? d->field->content : JFR_PLAIN;
		seen->cell.real = d->real;
		break;
	default:
		set_object(run, e, d, seen);
		return;
	}
	buf_addf(&run->owner->scratch, "%" PRId64, d->integer);
}

static void read_setting_type(struct jfr_query_run *run, const struct jfr_event *e,
			      const struct jfr_datum *d, struct jfr_seen *seen)
{
	const struct jfr_type *type = jfr_type_by_id(&e->chunk->metadata, d->integer);
	struct buf *text = &run->owner->scratch;

	if (d->kind == JFR_INTEGER && type) {
		buf_adds(text, type->label ? type->label : type->name);
		set_text(run, &seen->cell);
	} else {
		buf_addf(text, "#%" PRId64, d->integer);
	}
}

static void read_label(struct jfr_query_run *run, const struct jfr_event *e, struct jfr_seen *seen)
{
	buf_adds(&run->owner->scratch, e->type->label ? e->type->label : e->type->name);
	set_text(run, &seen->cell);
}

static void read_value(const struct jfr_getter *g, struct jfr_query_run *run,
		       const struct jfr_event *e, struct jfr_seen *seen)
{
	struct jfr_datum d;

	*seen = (struct jfr_seen){ .group = 0 };
	buf_reset(&run->owner->scratch);
	switch (g->kind) {
	case JFR_GET_NOTHING:
		break;
	case JFR_GET_EVENT:
		seen->cell.kind = JFR_CELL_TRUTH;
		break;
	case JFR_GET_LABEL:
		read_label(run, e, seen);
		break;
	case JFR_GET_SETTING_TYPE:
		jfr_get(e, &g->path, &d);
		read_setting_type(run, e, &d, seen);
		break;
	case JFR_GET_PATH:
		jfr_get(e, &g->path, &d);
		set_value(run, e, &d, seen);
		break;
	default:
		read_top(g, run, e, seen);
	}
	if (g->has_group)
		seen->group = add_text(run, &run->groups);
}

void jfr_getter_read(struct jfr_getter *g, struct jfr_query_run *run, const struct jfr_event *e,
		     struct jfr_cell *cell, uint32_t *group)
{
	struct jfr_seen seen;
	int64_t key;
	uint32_t i;

	if (!g->is_constant) {
		read_value(g, run, e, &seen);
		*cell = seen.cell;
		*group = seen.group;
		return;
	}
	key = jfr_get_key(e, g->path.fields[0]);
	i = id_map_get(&g->seen_keys, (uint64_t)key);
	if (i == ID_MAP_NONE) {
		i = id_map_add(&g->seen_keys, (uint64_t)key, (uint32_t)g->n);
		g->seen = xgrow(g->seen, g->n, &g->cap, sizeof(*g->seen));
		read_value(g, run, e, &g->seen[g->n++]);
		run->owner->used_by_chunk += ELEMENT_BYTES(sizeof(*g->seen));
	}
	*cell = g->seen[i].cell;
	*group = g->seen[i].group;
}
