/* jfr view --filter: parses and evaluates a condition on a field of an event type. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"
#include "cli/parse_duration.h"
#include "cli/parse_size.h"
#include "cmd/jfr/jfr_view.h"
#include "model/jfr/jfr_names.h"
#include "wire/glob.h"

enum op { OP_EQUAL, OP_NOT_EQUAL, OP_LESS, OP_AT_MOST, OP_GREATER, OP_AT_LEAST };

struct jfr_filter {
	char *field;
	enum op op;
	const char *value; /* points into the caller's text */
	struct jfr_path path;
	bool is_bound; /* in the current chunk, the event type has the field */
	bool is_number;
	double number; /* value in the unit of jfr_datum_number() */
};

/* The operators.  If one operator begins with another, the longer one is first. */
static const struct {
	const char *text;
	enum op op;
} operators[] = {
	{ "!=", OP_NOT_EQUAL }, { "<=", OP_AT_MOST }, { ">=", OP_AT_LEAST },
	{ "=", OP_EQUAL },      { "<", OP_LESS },     { ">", OP_GREATER },
};

struct jfr_filter *jfr_filter_parse(const char *text, struct err *err)
{
	size_t len = strcspn(text, "!<>=");

	for (size_t i = 0; len > 0 && i < ARRAY_SIZE(operators); i++) {
		size_t op_len = strlen(operators[i].text);

		if (strncmp(text + len, operators[i].text, op_len) == 0 && text[len + op_len]) {
			struct jfr_filter *f = xcalloc(1, sizeof(*f));

			f->field = xstrndup(text, len);
			f->op = operators[i].op;
			f->value = text + len + op_len;
			return f;
		}
	}
	(void)err_set(err, EXIT_USAGE,
		      "invalid filter '%s': expected FIELD OPERATOR VALUE without blanks, for "
		      "example 'duration>10ms' or 'eventThread.javaName=main'", text);
	return NULL;
}

void jfr_filter_free(struct jfr_filter *f)
{
	if (!f)
		return;
	free(f->field);
	free(f);
}

static int parse_plain(struct jfr_filter *f)
{
	char *end;

	errno = 0;
	f->number = strtod(f->value, &end);
	return errno == 0 && end != f->value && !*end ? 0 : -EINVAL;
}

/* Parses the value, which has the unit of the field: 10ms, 64k, 0.5. */
static int parse_value(struct jfr_filter *f, const struct jfr_field *field, struct err *err)
{
	uint64_t number = 0;
	int rc;

	if (jfr_is_timespan(field->content)) {
		rc = parse_duration_ns(f->value, &number);
		f->number = (double)number;
	} else if (field->content == JFR_DATA_BYTES || field->content == JFR_DATA_BITS) {
		rc = parse_size(f->value, &number);
		f->number = (double)number;
	} else {
		rc = parse_plain(f);
	}
	if (rc == 0)
		return 0;
	return err_set(err, EXIT_USAGE, "invalid value '%s' for the field '%s': expected a %s",
		       f->value, f->field,
		       jfr_is_timespan(field->content) ? "time such as 10ms" :
		       field->content == JFR_PLAIN ? "number" : "number or a size such as 64k");
}

int jfr_filter_bind(struct jfr_filter *f, const struct jfr_type *type, struct err *err)
{
	const struct jfr_field *field;

	f->is_bound = jfr_path_find(type, f->field, &f->path);
	if (!f->is_bound) {
		_cleanup_buf_ struct buf names = BUF_INIT;

		for (size_t i = 0; i < type->n_fields; i++)
			buf_addf(&names, "%s%s", i ? ", " : "", type->fields[i].name);
		return err_set(err, EXIT_USAGE, "unknown field '%s' of %s: choose from %s",
			       f->field, type->name, buf_str(&names));
	}
	field = jfr_path_field(type, &f->path);
	f->is_number = field->type && field->type->base >= JFR_BYTE &&
		       field->type->base <= JFR_DOUBLE && field->type->base != JFR_CHAR &&
		       !field->is_array && !jfr_is_timestamp(field->content);
	return f->is_number ? parse_value(f, field, err) : 0;
}

static bool compares(enum op op, int order)
{
	switch (op) {
	case OP_EQUAL:
		return order == 0;
	case OP_NOT_EQUAL:
		return order != 0;
	case OP_LESS:
		return order < 0;
	case OP_AT_MOST:
		return order <= 0;
	case OP_GREATER:
		return order > 0;
	case OP_AT_LEAST:
		return order >= 0;
	}
	return false;
}

static int order_of(double a, double b)
{
	return a < b ? -1 : a > b;
}

static bool accepts_number(const struct jfr_filter *f, const struct jfr_event *e,
			   const struct jfr_datum *d)
{
	double number = d->kind == JFR_REAL ? d->real
		      : d->kind == JFR_UNSIGNED && d->field->content == JFR_PLAIN
			      ? (double)(uint64_t)d->integer
			      : (double)jfr_datum_number(e->chunk, d);

	return compares(f->op, order_of(number, f->number));
}

/* Returns whether a text meets the condition.  With = and !=, the value is a glob. */
static bool accepts_text(const struct jfr_filter *f, const char *text)
{
	if (f->op == OP_EQUAL)
		return glob_matches(f->value, text);
	if (f->op == OP_NOT_EQUAL)
		return !glob_matches(f->value, text);
	return compares(f->op, strcmp(text, f->value));
}

bool jfr_filter_accepts(const struct jfr_filter *f, const struct jfr_event *e)
{
	_cleanup_buf_ struct buf text = BUF_INIT;
	struct jfr_datum d;

	if (!f->is_bound)
		return false;
	jfr_get(e, &f->path, &d);
	if (d.kind == JFR_NOTHING)
		return f->op == OP_NOT_EQUAL;
	if (f->is_number)
		return accepts_number(f, e, &d);
	if (d.kind == JFR_TRUTH)
		buf_adds(&text, d.integer ? "true" : "false");
	else
		jfr_name_add(&text, e->chunk, &d);
	return accepts_text(f, buf_str(&text));
}
