#include "render/sheet.h"

#include <inttypes.h>
#include <string.h>

#include "base/buf.h"
#include "base/text.h"
#include "base/xalloc.h"
#include "render/units.h"

#define GAP 2 /* blanks behind a label's colon, at least */

enum value_kind {
	VALUE_ABSENT,
	VALUE_TEXT,
	VALUE_NUMBER,
	VALUE_BOOL,
	VALUE_REAL,
	VALUE_ITEMS,
};

struct value {
	enum value_kind kind;
	union {
		char *text;
		int64_t number;
		bool yes;
		double real;
		struct {
			struct sheet **list;
			size_t n, cap;
		} items;
	};
};

struct sheet {
	const struct field *fields;
	size_t n;
	struct value *values;
};

struct sheet *sheet_new(const struct field *fields, size_t n)
{
	struct sheet *s = xcalloc(1, sizeof(*s));

	s->fields = fields;
	s->n = n;
	s->values = xcalloc(n, sizeof(*s->values));
	return s;
}

static void free_value(struct value *v)
{
	if (v->kind == VALUE_TEXT)
		free(v->text);
	for (size_t i = 0; v->kind == VALUE_ITEMS && i < v->items.n; i++)
		sheet_free(v->items.list[i]);
	if (v->kind == VALUE_ITEMS)
		free(v->items.list);
}

void sheet_free(struct sheet *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->n; i++)
		free_value(&s->values[i]);
	free(s->values);
	free(s);
}

static void set(struct sheet *s, size_t field, struct value value)
{
	free_value(&s->values[field]);
	s->values[field] = value;
}

void sheet_text(struct sheet *s, size_t field, const char *text)
{
	if (text)
		set(s, field, (struct value){ .kind = VALUE_TEXT, .text = xstrdup(text) });
}

void sheet_number(struct sheet *s, size_t field, int64_t value)
{
	set(s, field, (struct value){ .kind = VALUE_NUMBER, .number = value });
}

void sheet_bool(struct sheet *s, size_t field, bool value)
{
	set(s, field, (struct value){ .kind = VALUE_BOOL, .yes = value });
}

void sheet_real(struct sheet *s, size_t field, double value)
{
	set(s, field, (struct value){ .kind = VALUE_REAL, .real = value });
}

void sheet_items(struct sheet *s, size_t field)
{
	if (s->values[field].kind != VALUE_ITEMS)
		set(s, field, (struct value){ .kind = VALUE_ITEMS });
}

struct sheet *sheet_item(struct sheet *s, size_t field, const struct field *fields, size_t n)
{
	struct value *v = &s->values[field];
	struct sheet *item = sheet_new(fields, n);

	sheet_items(s, field);
	v->items.list = xgrow(v->items.list, v->items.n, &v->items.cap, sizeof(struct sheet *));
	v->items.list[v->items.n++] = item;
	return item;
}

/* Without its fraction; what no int64_t can hold becomes 0. */
static int64_t whole(const struct value *v)
{
	if (v->kind == VALUE_NUMBER)
		return v->number;
	return v->real > -9e18 && v->real < 9e18 ? (int64_t)v->real : 0;
}

static void show_value(const struct value *v, enum field_type type, struct buf *out)
{
	if (v->kind == VALUE_TEXT)
		text_printable(out, v->text, strlen(v->text));
	else if (v->kind == VALUE_BOOL)
		buf_adds(out, v->yes ? "yes" : "no");
	else if (type == FIELD_BYTES)
		units_bytes(out, whole(v));
	else if (type == FIELD_SECONDS)
		units_seconds(out, whole(v));
	else if (v->kind == VALUE_REAL)
		buf_addf(out, "%.2f", v->real);
	else
		buf_addf(out, "%" PRId64, v->number);
}

static void show_words(const struct field *f, const struct value *v, struct buf *out)
{
	const char *words = f->words ? f->words : "%";
	size_t before = strcspn(words, "%");

	buf_add(out, words, before);
	if (!words[before])
		return;
	show_value(v, f->type, out);
	buf_adds(out, words + before + 1);
}

/* A colon behind a name takes the place of the comma. */
static void add_comma(struct buf *line)
{
	if (line->len > 0)
		buf_adds(line, line->data[line->len - 1] == ':' ? " " : ", ");
}

static bool is_line(const struct sheet *s, size_t i)
{
	return s->fields[i].label && *s->fields[i].label;
}

/* Fields from *i on that share its line; leaves *i behind them. */
static void show_line(const struct sheet *s, size_t *i, struct buf *line)
{
	const char *label = s->fields[*i].label;

	for (; *i < s->n && s->fields[*i].label && strcmp(s->fields[*i].label, label) == 0; ++*i) {
		const struct value *v = &s->values[*i];

		if (v->kind == VALUE_ABSENT || v->kind == VALUE_ITEMS)
			continue;
		add_comma(line);
		show_words(&s->fields[*i], v, line);
	}
}

static void show_item(const struct sheet *item, struct buf *line)
{
	for (size_t i = 0; i < item->n; i++) {
		if (!item->fields[i].label || item->values[i].kind == VALUE_ABSENT)
			continue;
		add_comma(line);
		show_words(&item->fields[i], &item->values[i], line);
	}
}

static size_t label_width(const struct sheet *s)
{
	size_t width = 0;

	for (size_t i = 0; i < s->n; i++) {
		size_t len = is_line(s, i) ? strlen(s->fields[i].label) : 0;

		if (s->values[i].kind != VALUE_ABSENT && len > width)
			width = len;
	}
	return width;
}

/* What the lines have in common while they are printed. */
struct printer {
	FILE *out;
	int width;       /* of a label with its colon and the gap */
	bool any;        /* something was printed */
	bool gap_before; /* an empty line is due before the next one */
};

static void print_line(struct printer *p, const char *label, const struct buf *line)
{
	_cleanup_free_ char *head = xasprintf("%s%s", label, *label ? ":" : "");

	if (line->len == 0)
		return;
	if (p->gap_before && p->any)
		fputc('\n', p->out);
	p->gap_before = false;
	p->any = true;
	fprintf(p->out, "%-*s%s\n", p->width, head, buf_str(line));
}

static void print_items(struct printer *p, const char *label, const struct value *v)
{
	for (size_t i = 0; i < v->items.n; i++) {
		_cleanup_buf_ struct buf line = BUF_INIT;

		show_item(v->items.list[i], &line);
		print_line(p, i == 0 ? label : "", &line);
	}
}

void sheet_print(const struct sheet *s, FILE *out)
{
	struct printer p = { .out = out, .width = (int)label_width(s) + 1 + GAP };

	for (size_t i = 0; i < s->n;) {
		_cleanup_buf_ struct buf line = BUF_INIT;
		const char *label = s->fields[i].label;

		if (!is_line(s, i)) {
			p.gap_before |= label != NULL;
			i++;
			continue;
		}
		if (s->values[i].kind == VALUE_ITEMS) {
			print_items(&p, label, &s->values[i++]);
			continue;
		}
		show_line(s, &i, &line);
		print_line(&p, label, &line);
	}
}

static void put_value(struct json *object, const char *key, const struct value *v)
{
	struct json *array;

	switch (v->kind) {
	case VALUE_ABSENT:
		json_put_null(object, key);
		break;
	case VALUE_TEXT:
		json_put_text(object, key, v->text);
		break;
	case VALUE_NUMBER:
		json_put_number(object, key, v->number);
		break;
	case VALUE_BOOL:
		json_put_bool(object, key, v->yes);
		break;
	case VALUE_REAL:
		json_put_real(object, key, v->real);
		break;
	case VALUE_ITEMS:
		array = json_array();
		for (size_t i = 0; i < v->items.n; i++)
			json_put(array, NULL, sheet_json(v->items.list[i]));
		json_put(object, key, array);
		break;
	}
}

struct json *sheet_json(const struct sheet *s)
{
	struct json *object = json_object();

	for (size_t i = 0; i < s->n; i++) {
		if (s->fields[i].key)
			put_value(object, s->fields[i].key, &s->values[i]);
	}
	return object;
}
