#include "render/table.h"

#include <string.h>
#include <strings.h>

#include "base/buf.h"
#include "base/text.h"
#include "base/xalloc.h"
#include "render/units.h"

#define GAP 2       /* blanks between columns */
#define WIDEST 256  /* what others are aligned with: targets choose how long names are */
#define PIECE 65536 /* what is collected before it is written */

enum cell_kind { CELL_ABSENT, CELL_TEXT, CELL_NUMBER, CELL_REAL };

struct cell {
	enum cell_kind kind;
	union {
		size_t text; /* where in table.texts it begins */
		int64_t number;
		double real;
	};
};

struct table {
	const struct column *columns;
	size_t n_columns;
	size_t *selected; /* column indexes in the order of printing */
	size_t n_selected, selected_cap;
	struct cell *cells; /* row by row, n_columns each */
	size_t n_rows, rows_cap;
	struct buf texts; /* NUL-terminated, one behind the other */
};

static void select_column(struct table *t, size_t column)
{
	t->selected = xgrow(t->selected, t->n_selected, &t->selected_cap, sizeof(*t->selected));
	t->selected[t->n_selected++] = column;
}

struct table *table_new(const struct column *columns, size_t n_columns)
{
	struct table *t = xcalloc(1, sizeof(*t));

	t->columns = columns;
	t->n_columns = n_columns;
	for (size_t i = 0; i < n_columns; i++) {
		if (!columns[i].hidden)
			select_column(t, i);
	}
	return t;
}

void table_free(struct table *t)
{
	if (!t)
		return;
	free(t->selected);
	free(t->cells);
	buf_release(&t->texts);
	free(t);
}

void table_row(struct table *t)
{
	t->cells = xgrow(t->cells, t->n_rows, &t->rows_cap, t->n_columns * sizeof(*t->cells));
	memset(t->cells + t->n_rows * t->n_columns, 0, t->n_columns * sizeof(*t->cells));
	t->n_rows++;
}

static struct cell *cell_at(const struct table *t, size_t row, size_t column)
{
	return &t->cells[row * t->n_columns + column];
}

static struct cell *last_cell(struct table *t, size_t column)
{
	return cell_at(t, t->n_rows - 1, column);
}

void table_text(struct table *t, size_t column, const char *text)
{
	if (!text)
		return;
	*last_cell(t, column) = (struct cell){ .kind = CELL_TEXT, .text = t->texts.len };
	buf_add(&t->texts, text, strlen(text) + 1);
}

void table_number(struct table *t, size_t column, int64_t value)
{
	*last_cell(t, column) = (struct cell){ .kind = CELL_NUMBER, .number = value };
}

void table_real(struct table *t, size_t column, double value)
{
	*last_cell(t, column) = (struct cell){ .kind = CELL_REAL, .real = value };
}

static bool is_name(const char *name, const char *word, size_t len)
{
	return strncasecmp(name, word, len) == 0 && name[len] == '\0';
}

static int unknown_column(const struct table *t, const char *word, size_t len, struct err *err)
{
	_cleanup_buf_ struct buf keys = BUF_INIT;

	for (size_t i = 0; i < t->n_columns; i++)
		buf_addf(&keys, "%s%s", i ? ", " : "", t->columns[i].key);
	return err_set(err, EXIT_USAGE, "'%.*s' is no column: there are %s",
		       len > 80 ? 80 : (int)len, word, buf_str(&keys));
}

int table_select(struct table *t, const char *list, struct err *err)
{
	t->n_selected = 0;
	for (;;) {
		size_t len = strcspn(list, ",");
		size_t i = 0;

		while (i < t->n_columns && !is_name(t->columns[i].name, list, len) &&
		       !is_name(t->columns[i].key, list, len))
			i++;
		if (i == t->n_columns)
			return unknown_column(t, list, len, err);
		select_column(t, i);
		if (list[len] == '\0')
			return 0;
		list += len + 1;
	}
}

/* Without its fraction; what no int64_t can hold becomes 0. */
static int64_t whole(const struct cell *cell)
{
	if (cell->kind == CELL_NUMBER)
		return cell->number;
	return cell->real > -9e18 && cell->real < 9e18 ? (int64_t)cell->real : 0;
}

/* A histogram has tens of thousands of these: a quarter of what printf takes. */
static void show_integer(struct buf *out, int64_t value)
{
	uint64_t rest = value < 0 ? -(uint64_t)value : (uint64_t)value;
	char text[24], *at = text + sizeof(text);

	do
		*--at = (char)('0' + rest % 10);
	while ((rest /= 10) > 0);
	if (value < 0)
		*--at = '-';
	buf_add(out, at, (size_t)(text + sizeof(text) - at));
}

static void show_number(enum column_type type, const struct cell *cell, struct buf *out)
{
	char text[400]; /* "%.2f" of the largest double has 312 bytes */

	if (type == COL_BYTES) {
		units_bytes(out, whole(cell));
		return;
	}
	if (type == COL_SECONDS) {
		units_seconds(out, whole(cell));
		return;
	}
	if (type == COL_NANOS) {
		units_nanos(out, whole(cell) > 0 ? (uint64_t)whole(cell) : 0);
		return;
	}
	if (cell->kind == CELL_NUMBER) {
		show_integer(out, cell->number);
		return;
	}
	(void)snprintf(text, sizeof(text), "%.2f", cell->real);
	buf_adds(out, text);
}

static void show_cell(const struct table *t, size_t row, size_t column, struct buf *out)
{
	const struct cell *cell = cell_at(t, row, column);
	const char *text;

	switch (cell->kind) {
	case CELL_ABSENT:
		buf_addc(out, '-');
		break;
	case CELL_TEXT:
		text = t->texts.data + cell->text;
		text_printable(out, text, strlen(text));
		break;
	case CELL_NUMBER:
	case CELL_REAL:
		show_number(t->columns[column].type, cell, out);
		break;
	}
}

/* A cell as it is printed. */
struct shown {
	size_t at, len; /* in layout.text */
	size_t width;
};

struct layout {
	struct buf text;
	struct shown *cells; /* heading row first when there is one, then row by row */
	size_t n;
	size_t *widths;
};

static void end_cell(struct layout *l, size_t start, size_t column)
{
	struct shown *s = &l->cells[l->n++];

	s->at = start;
	s->len = l->text.len - start;
	s->width = text_width(l->text.data + start, s->len);
	if (s->width > l->widths[column] && s->width <= WIDEST)
		l->widths[column] = s->width;
}

static struct layout lay_out(const struct table *t)
{
	struct layout l = { BUF_INIT, NULL, 0, NULL };
	size_t lines = 1 + t->n_rows; /* headings first */

	l.cells = xreallocarray(NULL, lines, t->n_selected * sizeof(*l.cells));
	l.widths = xcalloc(t->n_selected, sizeof(*l.widths));
	for (size_t i = 0; i < t->n_selected; i++) {
		size_t start = l.text.len;

		buf_adds(&l.text, t->columns[t->selected[i]].name);
		end_cell(&l, start, i);
	}
	for (size_t row = 0; row < t->n_rows; row++) {
		for (size_t i = 0; i < t->n_selected; i++) {
			size_t start = l.text.len;

			show_cell(t, row, t->selected[i], &l.text);
			end_cell(&l, start, i);
		}
	}
	return l;
}

static void release_layout(struct layout *l)
{
	buf_release(&l->text);
	free(l->cells);
	free(l->widths);
}

static void add_blanks(struct buf *out, size_t n)
{
	memset(buf_reserve(out, n), ' ', n);
	out->len += n;
}

static void add_line(const struct table *t, const struct layout *l, size_t line, struct buf *out)
{
	for (size_t i = 0; i < t->n_selected; i++) {
		const struct shown *s = &l->cells[line * t->n_selected + i];
		bool left = t->columns[t->selected[i]].type == COL_TEXT;
		bool last = i + 1 == t->n_selected;
		size_t pad = l->widths[i] > s->width ? l->widths[i] - s->width : 0;

		if (!left)
			add_blanks(out, pad);
		buf_add(out, l->text.data + s->at, s->len);
		if (left && !last)
			add_blanks(out, pad);
		if (!last)
			add_blanks(out, GAP);
	}
	buf_addc(out, '\n');
}

void table_print(const struct table *t, FILE *out)
{
	_cleanup_buf_ struct buf piece = BUF_INIT;
	struct layout l = lay_out(t);

	for (size_t line = 0; line <= t->n_rows; line++) {
		add_line(t, &l, line, &piece);
		if (piece.len < PIECE)
			continue;
		(void)fwrite(piece.data, 1, piece.len, out); /* main looks at ferror() once */
		buf_reset(&piece);
	}
	(void)fwrite(buf_str(&piece), 1, piece.len, out);
	release_layout(&l);
}

void table_add(const struct table *t, struct buf *out)
{
	struct layout l = lay_out(t);

	for (size_t line = 0; line <= t->n_rows; line++)
		add_line(t, &l, line, out);
	release_layout(&l);
}

struct json *table_json(const struct table *t)
{
	struct json *rows = json_array();

	for (size_t row = 0; row < t->n_rows; row++) {
		struct json *object = json_object();

		for (size_t i = 0; i < t->n_columns; i++) {
			const struct cell *cell = cell_at(t, row, i);
			const char *key = t->columns[i].key;

			switch (cell->kind) {
			case CELL_ABSENT:
				json_put_null(object, key);
				break;
			case CELL_TEXT:
				json_put_text(object, key, t->texts.data + cell->text);
				break;
			case CELL_NUMBER:
				json_put_number(object, key, cell->number);
				break;
			case CELL_REAL:
				json_put_real(object, key, cell->real);
				break;
			}
		}
		json_put(rows, NULL, object);
	}
	return rows;
}
