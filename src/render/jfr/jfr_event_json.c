#include "render/jfr/jfr_event_json.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "model/jfr/jfr_names.h"
#include "render/units.h"

#define DEPTH_MAX 40 /* limit for the nesting of objects */
/*
 * Limit for the number of values that are written for one event.  Without the limit, constants that
 * refer to each other many times could make the output huge.
 */
#define VALUES_MAX 200000
#define SECOND INT64_C(1000000000)

/*
 * The state while an event is written.  `open` has the constants that are being written, so that a
 * constant that contains itself becomes null.
 */
struct writer {
	const struct jfr_chunk *chunk;
	unsigned depth;
	uint32_t values;
	struct {
		const struct jfr_type *type;
		int64_t key;
	} open[DEPTH_MAX];
};

void jfr_time_add(struct buf *out, int64_t ns)
{
	time_t s = ns / SECOND;
	int64_t rest = ns % SECOND;
	struct tm tm;

	if (rest < 0) {
		rest += SECOND;
		s--;
	}
	if (!gmtime_r(&s, &tm)) {
		buf_addf(out, "%" PRId64 " ns", ns);
		return;
	}
	buf_addf(out, "%04d-%02d-%02dT%02d:%02d:%02d.%09" PRId64 "Z", tm.tm_year + 1900,
		 tm.tm_mon + 1, tm.tm_mday, tm.tm_hour, tm.tm_min, tm.tm_sec, rest);
}

/* Returns the shortest decimal number that rounds to the same float as `value`. */
static double shortest(double value)
{
	char text[32];

	for (int digits = 6; digits <= 9; digits++) {
		(void)snprintf(text, sizeof(text), "%.*g", digits, value);
		if (strtof(text, NULL) == (float)value)
			break;
	}
	return strtod(text, NULL);
}

static void put_number(const struct jfr_chunk *chunk, const struct jfr_datum *d,
		       struct json *parent, const char *key)
{
	enum jfr_content content = d->field ? d->field->content : JFR_PLAIN;

	if (jfr_datum_is_unlimited(d)) {
		json_put_null(parent, key);
	} else if (jfr_is_timestamp(content)) {
		_cleanup_buf_ struct buf text = BUF_INIT;

		jfr_time_add(&text, jfr_datum_number(chunk, d));
		json_put_text(parent, key, buf_str(&text));
	} else if (jfr_is_timespan(content)) {
		json_put_real(parent, key, (double)jfr_datum_number(chunk, d) / 1e9);
	} else if (d->kind == JFR_UNSIGNED) {
		json_put_unsigned(parent, key, (uint64_t)d->integer);
	} else {
		json_put_number(parent, key, d->integer);
	}
}

static void put(struct writer *w, const struct jfr_datum *d, struct json *parent, const char *key);

static void put_text(const struct jfr_datum *d, struct json *parent, const char *key)
{
	_cleanup_buf_ struct buf text = BUF_INIT;

	jfr_string_add(&text, &d->text);
	json_put_text_len(parent, key, buf_str(&text), text.len);
}

static bool is_open(const struct writer *w, const struct jfr_datum *d)
{
	for (unsigned i = 0; d->has_key && i < w->depth; i++) {
		if (w->open[i].type == d->type && w->open[i].key == d->key)
			return true;
	}
	return false;
}

/*
 * Adds the fields of an object.  The name of a class is in Java source form, as in all JSON
 * documents.
 */
static void put_fields(struct writer *w, const struct jfr_datum *d, struct json *object)
{
	bool is_class = strcmp(d->type->name, "java.lang.Class") == 0;
	struct jfr_cursor c = d->body;

	for (size_t i = 0; i < d->type->n_fields; i++) {
		const struct jfr_field *f = &d->type->fields[i];
		struct jfr_datum value;

		jfr_read(w->chunk, f, false, &c, &value);
		if (is_class && value.kind == JFR_TEXT && strcmp(f->name, "name") == 0) {
			_cleanup_buf_ struct buf name = BUF_INIT;

			jfr_name_add(&name, w->chunk, d);
			json_put_text_len(object, f->name, buf_str(&name), name.len);
		} else {
			put(w, &value, object, f->name);
		}
	}
}

static void put_object(struct writer *w, const struct jfr_datum *d, struct json *parent,
		       const char *key)
{
	struct json *object;

	if (w->depth == DEPTH_MAX || is_open(w, d)) {
		json_put_null(parent, key);
		return;
	}
	object = json_object();
	w->open[w->depth].type = d->has_key ? d->type : NULL;
	w->open[w->depth++].key = d->key;
	put_fields(w, d, object);
	w->depth--;
	json_put(parent, key, object);
}

static void put_array(struct writer *w, const struct jfr_datum *d, struct json *parent,
		      const char *key)
{
	struct json *array = json_array();
	struct jfr_cursor c = d->body;

	for (uint32_t i = 0; i < d->n && !c.failed && w->values < VALUES_MAX; i++) {
		struct jfr_datum element;

		jfr_read(w->chunk, d->field, true, &c, &element);
		put(w, &element, array, NULL);
	}
	json_put(parent, key, array);
}

static void put_character(const struct jfr_datum *d, struct json *parent, const char *key)
{
	_cleanup_buf_ struct buf text = BUF_INIT;
	uint8_t units[3] = { 0xff, 0xff, 0xff };

	/* Write the char as a string of one UTF-16 unit. */
	units[0] = (uint8_t)(d->integer >> 8);
	units[1] = (uint8_t)d->integer;
	jfr_string_add(&text, &(struct jfr_string){ .encoding = JFR_STRING_CHARS,
						    .bytes = { units, units + 2, false, false } });
	json_put_text_len(parent, key, buf_str(&text), text.len);
}

static void put(struct writer *w, const struct jfr_datum *d, struct json *parent, const char *key)
{
	if (++w->values > VALUES_MAX) {
		json_put_null(parent, key);
		return;
	}
	switch (d->kind) {
	case JFR_NOTHING:
		json_put_null(parent, key);
		break;
	case JFR_TRUTH:
		json_put_bool(parent, key, d->integer);
		break;
	case JFR_INTEGER:
	case JFR_UNSIGNED:
		put_number(w->chunk, d, parent, key);
		break;
	case JFR_REAL:
		json_put_real(parent, key, d->is_float ? shortest(d->real) : d->real);
		break;
	case JFR_CHARACTER:
		put_character(d, parent, key);
		break;
	case JFR_TEXT:
		put_text(d, parent, key);
		break;
	case JFR_FIELDS:
		put_object(w, d, parent, key);
		break;
	case JFR_ELEMENTS:
		put_array(w, d, parent, key);
	}
}

void jfr_event_put(const struct jfr_event *e, struct json *object)
{
	struct writer w = { .chunk = e->chunk };
	struct jfr_cursor c = e->fields;

	for (size_t i = 0; i < e->type->n_fields; i++) {
		struct jfr_datum d;

		jfr_read(e->chunk, &e->type->fields[i], false, &c, &d);
		put(&w, &d, object, e->type->fields[i].name);
	}
}

static void show_number(const struct jfr_chunk *chunk, const struct jfr_datum *d, struct buf *out)
{
	enum jfr_content content = d->field ? d->field->content : JFR_PLAIN;
	int64_t number = jfr_datum_number(chunk, d);

	if (jfr_datum_is_unlimited(d))
		buf_addc(out, '-');
	else if (jfr_is_timestamp(content))
		jfr_time_add(out, number);
	else if (jfr_is_timespan(content))
		units_nanos(out, number < 0 ? 0 : (uint64_t)number);
	else if (content == JFR_DATA_BYTES || content == JFR_DATA_BITS)
		units_bytes(out, number);
	else if (content == JFR_ADDRESS)
		buf_addf(out, "0x%" PRIx64, (uint64_t)number);
	else if (d->kind == JFR_UNSIGNED)
		buf_addf(out, "%" PRIu64, (uint64_t)number);
	else
		buf_addf(out, "%" PRId64, number);
	if (d->field && d->field->is_rate)
		buf_adds(out, content == JFR_PLAIN ? " Hz" : "/s");
}

static void show_real(const struct jfr_datum *d, struct buf *out)
{
	if (d->field && d->field->content == JFR_PERCENTAGE)
		buf_addf(out, "%.2f %%", 100 * d->real);
	else
		buf_addf(out, "%g", d->is_float ? shortest(d->real) : d->real);
}

void jfr_datum_show(const struct jfr_chunk *chunk, const struct jfr_datum *d, struct buf *out)
{
	size_t start = out->len;

	switch (d->kind) {
	case JFR_TRUTH:
		buf_adds(out, d->integer ? "true" : "false");
		break;
	case JFR_INTEGER:
	case JFR_UNSIGNED:
	case JFR_CHARACTER:
		show_number(chunk, d, out);
		break;
	case JFR_REAL:
		show_real(d, out);
		break;
	case JFR_ELEMENTS:
		buf_addf(out, "%u elements", d->n);
		break;
	default:
		jfr_name_add(out, chunk, d);
	}
	if (out->len == start)
		buf_addc(out, '-');
}
