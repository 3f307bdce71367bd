#include "render/record.h"

#include <string.h>

#include "base/buf.h"
#include "base/xalloc.h"

#define GAP 2 /* the least number of spaces between a label's colon and the value */

/* The value of a field: a cell or a list. */
struct value {
	struct cell cell; /* owns its text */
	bool is_list;
	struct record **items;
	size_t n, cap;
};

struct record {
	const struct field *fields;
	size_t n;
	struct value *values;
};

struct record *record_new(const struct field *fields, size_t n)
{
	struct record *s = xcalloc(1, sizeof(*s));

	s->fields = fields;
	s->n = n;
	s->values = xcalloc(n, sizeof(*s->values));
	return s;
}

static void free_value(struct value *v)
{
	if (v->cell.has == CELL_HAS_TEXT)
		free((char *)v->cell.text);
	for (size_t i = 0; i < v->n; i++)
		record_free(v->items[i]);
	free(v->items);
}

void record_free(struct record *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->n; i++)
		free_value(&s->values[i]);
	free(s->values);
	free(s);
}

static void set(struct record *s, size_t field, struct cell cell)
{
	free_value(&s->values[field]);
	s->values[field] = (struct value){ .cell = cell };
}

void record_text(struct record *s, size_t field, const char *text)
{
	if (text)
		set(s, field, (struct cell){ CELL_HAS_TEXT, .text = xstrdup(text) });
}

void record_number(struct record *s, size_t field, int64_t value)
{
	set(s, field, (struct cell){ CELL_HAS_INTEGER, .integer = value });
}

void record_bool(struct record *s, size_t field, bool value)
{
	set(s, field, (struct cell){ CELL_HAS_BOOL, .yes = value });
}

void record_real(struct record *s, size_t field, double value)
{
	set(s, field, (struct cell){ CELL_HAS_REAL, .real = value });
}

void record_items(struct record *s, size_t field)
{
	s->values[field].is_list = true;
}

struct record *record_item(struct record *s, size_t field, const struct field *fields, size_t n)
{
	struct value *v = &s->values[field];

	record_items(s, field);
	v->items = xgrow(v->items, v->n, &v->cap, sizeof(struct record *));
	return v->items[v->n++] = record_new(fields, n);
}

static bool is_set(const struct value *v)
{
	return v->is_list || v->cell.has != CELL_ABSENT;
}

static void show_words(const struct field *f, const struct value *v, struct buf *out)
{
	const char *words = f->words ? f->words : "%";
	size_t before = strcspn(words, "%");

	buf_add(out, words, before);
	if (!words[before])
		return;
	cell_show(&v->cell, f->type, out);
	buf_adds(out, words + before + 1);
}

/*
 * Appends the separator that precedes a value: nothing at the start of the line; a space if the
 * previous value ends with a colon, such as "G1:"; otherwise ", ".
 */
static void add_comma(struct buf *line)
{
	if (line->len > 0)
		buf_adds(line, line->data[line->len - 1] == ':' ? " " : ", ");
}

static bool is_line(const struct record *s, size_t i)
{
	return s->fields[i].label && *s->fields[i].label;
}

/*
 * Appends to `line` the values of the fields that share the line of field *i.  Sets *i to the first
 * field of the next line.
 */
static void show_line(const struct record *s, size_t *i, struct buf *line)
{
	const char *label = s->fields[*i].label;

	for (; *i < s->n && s->fields[*i].label && strcmp(s->fields[*i].label, label) == 0; ++*i) {
		const struct value *v = &s->values[*i];

		if (v->cell.has == CELL_ABSENT)
			continue;
		add_comma(line);
		show_words(&s->fields[*i], v, line);
	}
}

static void show_item(const struct record *item, struct buf *line)
{
	for (size_t i = 0; i < item->n; i++) {
		if (!item->fields[i].label || item->values[i].cell.has == CELL_ABSENT)
			continue;
		add_comma(line);
		show_words(&item->fields[i], &item->values[i], line);
	}
}

static size_t label_width(const struct record *s)
{
	size_t width = 0;

	for (size_t i = 0; i < s->n; i++) {
		size_t len = is_line(s, i) ? strlen(s->fields[i].label) : 0;

		if (is_set(&s->values[i]) && len > width)
			width = len;
	}
	return width;
}

struct printer {
	FILE *out;
	int width;       /* width of the longest label, with colon and gap */
	bool any;        /* a line was printed */
	bool gap_before; /* an empty line must be printed before the next line */
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
	for (size_t i = 0; i < v->n; i++) {
		_cleanup_buf_ struct buf line = BUF_INIT;

		show_item(v->items[i], &line);
		print_line(p, i == 0 ? label : "", &line);
	}
}

void record_print(const struct record *s, FILE *out)
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
		if (s->values[i].is_list) {
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

	if (!v->is_list) {
		cell_put(&v->cell, object, key);
		return;
	}
	array = json_array();
	for (size_t i = 0; i < v->n; i++)
		json_put(array, NULL, record_json(v->items[i]));
	json_put(object, key, array);
}

struct json *record_json(const struct record *s)
{
	struct json *object = json_object();

	for (size_t i = 0; i < s->n; i++) {
		if (s->fields[i].key)
			put_value(object, s->fields[i].key, &s->values[i]);
	}
	return object;
}
