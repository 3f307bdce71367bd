#include "render/table.h"

#include <string.h>
#include <strings.h>

#include "base/buf.h"
#include "base/intern.h"
#include "base/printable.h"
#include "base/xalloc.h"

#define GAP 2       /* number of spaces between columns */
#define WIDEST 256  /* maximum width of a column; a cell may be wider, such as a long name */
#define CHUNK 65536 /* number of bytes that are written at a time */
#define INDENT "      "

struct table {
	struct column *columns;
	size_t n_columns;
	size_t *selected; /* indexes of the columns that are shown, in the order of the output */
	size_t n_selected, selected_cap;
	/*
	 * n_columns cells for each row.  A cell with text holds an offset in `texts`; a cell with a
	 * stack holds the index in `frames` of the stack's first frame.
	 */
	struct cell *cells;
	size_t n_rows, rows_cap;
	bool has_total;      /* the last row is the total */
	struct buf texts;    /* the texts of all cells; each ends with NUL */
	size_t stack;        /* index of the column with stacks; n_columns: no such column */
	const char **frames; /* the frames of all stacks; the texts of the frames are not owned */
	size_t n_frames, frames_cap;
	size_t frames_shown; /* maximum number of frames that are shown of a stack; 0: no limit */
};

void table_show(struct table *t, size_t column)
{
	t->selected = xgrow(t->selected, t->n_selected, &t->selected_cap, sizeof(*t->selected));
	t->selected[t->n_selected++] = column;
}

struct table *table_new(const struct column *columns, size_t n_columns)
{
	struct table *t = xcalloc(1, sizeof(*t));

	t->columns = xreallocarray(NULL, n_columns, sizeof(*columns));
	memcpy(t->columns, columns, n_columns * sizeof(*columns));
	t->stack = t->n_columns = n_columns;
	for (size_t i = 0; i < n_columns; i++) {
		if (columns[i].type == CELL_STACK)
			t->stack = i;
		else if (!columns[i].hidden)
			table_show(t, i);
	}
	return t;
}

void table_free(struct table *t)
{
	if (!t)
		return;
	free(t->columns);
	free(t->selected);
	free(t->cells);
	free(t->frames);
	buf_release(&t->texts);
	free(t);
}

static struct cell *stored(const struct table *t, size_t row, size_t column)
{
	return &t->cells[row * t->n_columns + column];
}

static struct cell cell_at(const struct table *t, size_t row, size_t column)
{
	struct cell cell = *stored(t, row, column);

	if (cell.has == CELL_HAS_TEXT)
		cell.text = t->texts.data + cell.number;
	return cell;
}

void table_row(struct table *t)
{
	t->cells = xgrow(t->cells, t->n_rows, &t->rows_cap, t->n_columns * sizeof(*t->cells));
	memset(stored(t, t->n_rows, 0), 0, t->n_columns * sizeof(*t->cells));
	if (t->stack < t->n_columns)
		stored(t, t->n_rows, t->stack)->number = t->n_frames;
	t->n_rows++;
}

void table_total(struct table *t)
{
	table_row(t);
	t->has_total = true;
}

void table_set(struct table *t, size_t column, struct cell cell)
{
	const char *text = cell.text;

	if (cell.has == CELL_HAS_TEXT) {
		cell.number = t->texts.len;
		buf_add(&t->texts, text, strlen(text) + 1);
	}
	*stored(t, t->n_rows - 1, column) = cell;
}

void table_text(struct table *t, size_t column, const char *text)
{
	if (text)
		table_set(t, column, (struct cell){ CELL_HAS_TEXT, .text = text });
}

void table_number(struct table *t, size_t column, int64_t value)
{
	table_set(t, column, (struct cell){ CELL_HAS_INTEGER, .integer = value });
}

void table_unsigned(struct table *t, size_t column, uint64_t value)
{
	table_set(t, column, (struct cell){ CELL_HAS_UNSIGNED, .number = value });
}

void table_real(struct table *t, size_t column, double value)
{
	table_set(t, column, (struct cell){ CELL_HAS_REAL, .real = value });
}

void table_frame(struct table *t, const char *text)
{
	t->frames = xgrow(t->frames, t->n_frames, &t->frames_cap, sizeof(*t->frames));
	t->frames[t->n_frames++] = text;
}

void table_limit_stacks(struct table *t, size_t n)
{
	t->frames_shown = n;
}

static const char **frames_of(const struct table *t, size_t row, size_t *n)
{
	size_t first = stored(t, row, t->stack)->number;
	size_t end = row + 1 < t->n_rows ? stored(t, row + 1, t->stack)->number : t->n_frames;

	*n = end - first;
	return *n > 0 ? t->frames + first : NULL;
}

size_t table_first_duplicate(const struct table *t, size_t column)
{
	struct intern seen = { 0 };
	size_t row = 0;

	while (row < t->n_rows && intern_text(&seen, cell_at(t, row, column).text) == row)
		row++;
	intern_release(&seen);
	return row;
}

static bool is_name(const char *name, const char *word, size_t len)
{
	return name && strncasecmp(name, word, len) == 0 && name[len] == '\0';
}

static int unknown_column(const struct table *t, const char *word, size_t len, struct err *err)
{
	_cleanup_buf_ struct buf keys = BUF_INIT;

	for (size_t i = 0; i < t->n_columns; i++)
		buf_addf(&keys, "%s%s", i ? ", " : "", t->columns[i].key);
	return err_set(err, EXIT_USAGE, "unknown column '%.*s': choose from %s",
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
		table_show(t, i);
		if (list[len] == '\0')
			return 0;
		list += len + 1;
	}
}

/* The text of a cell after formatting. */
struct shown {
	size_t at, len; /* position and length in layout.text, in bytes */
	size_t width;
};

struct layout {
	struct buf text;
	struct shown *cells; /* the shown cells, line by line; the first line has the headings */
	size_t n;
	size_t *widths;
};

static void end_cell(struct layout *l, size_t start, size_t column)
{
	struct shown *s = &l->cells[l->n++];

	s->at = start;
	s->len = l->text.len - start;
	s->width = printable_width(l->text.data + start, s->len);
	if (s->width > l->widths[column] && s->width <= WIDEST)
		l->widths[column] = s->width;
}

static struct layout lay_out(const struct table *t)
{
	struct layout l = { BUF_INIT, NULL, 0, NULL };
	size_t lines = 1 + t->n_rows; /* one line for the headings */

	l.cells = xreallocarray(NULL, lines, t->n_selected * sizeof(*l.cells));
	l.widths = xcalloc(t->n_selected, sizeof(*l.widths));
	for (size_t i = 0; i < t->n_selected; i++) {
		size_t start = l.text.len;

		buf_adds(&l.text, t->columns[t->selected[i]].name);
		end_cell(&l, start, i);
	}
	for (size_t row = 0; row < t->n_rows; row++) {
		for (size_t i = 0; i < t->n_selected; i++) {
			struct cell cell = cell_at(t, row, t->selected[i]);
			size_t start = l.text.len;

			cell_show(&cell, t->columns[t->selected[i]].type, &l.text);
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

static void add_spaces(struct buf *out, size_t n)
{
	memset(buf_reserve(out, n), ' ', n);
	out->len += n;
}

static void add_cells(const struct table *t, const struct layout *l, size_t line, struct buf *out)
{
	for (size_t i = 0; i < t->n_selected; i++) {
		const struct shown *s = &l->cells[line * t->n_selected + i];
		bool left = t->columns[t->selected[i]].type == CELL_TEXT;
		bool last = i + 1 == t->n_selected;
		size_t pad = l->widths[i] > s->width ? l->widths[i] - s->width : 0;

		if (!left)
			add_spaces(out, pad);
		buf_add(out, l->text.data + s->at, s->len);
		if (left && !last)
			add_spaces(out, pad);
		if (!last)
			add_spaces(out, GAP);
	}
	buf_addc(out, '\n');
}

static void add_stack(const struct table *t, size_t row, struct buf *out)
{
	size_t n, shown;
	const char **frames = frames_of(t, row, &n);

	if (n == 0) {
		buf_addf(out, INDENT "%s\n", t->columns[t->stack].name);
		return;
	}
	/*
	 * If only one frame would be hidden, show this frame, because the text "... 1 more" would
	 * take a line as well.
	 */
	shown = t->frames_shown > 0 && n > t->frames_shown + 1 ? t->frames_shown : n;
	for (size_t i = 0; i < shown; i++) {
		buf_adds(out, INDENT "at ");
		printable_add(out, frames[i], strlen(frames[i]));
		buf_addc(out, '\n');
	}
	if (shown < n)
		buf_addf(out, INDENT "... %zu more\n", n - shown);
}

static void add_line(const struct table *t, const struct layout *l, size_t line, struct buf *out)
{
	add_cells(t, l, line, out);
	if (line > 0 && t->stack < t->n_columns)
		add_stack(t, line - 1, out);
}

void table_print(const struct table *t, FILE *out)
{
	_cleanup_buf_ struct buf chunk = BUF_INIT;
	struct layout l = lay_out(t);

	for (size_t line = 0; line <= t->n_rows; line++) {
		add_line(t, &l, line, &chunk);
		if (chunk.len < CHUNK)
			continue;
		(void)fwrite(chunk.data, 1, chunk.len, out); /* main.c checks ferror() */
		buf_reset(&chunk);
	}
	(void)fwrite(buf_str(&chunk), 1, chunk.len, out);
	release_layout(&l);
}

void table_add(const struct table *t, struct buf *out)
{
	struct layout l = lay_out(t);

	for (size_t line = 0; line <= t->n_rows; line++)
		add_line(t, &l, line, out);
	release_layout(&l);
}

static struct json *stack_json(const struct table *t, size_t row)
{
	struct json *stack = json_array();
	size_t n;
	const char **frames = frames_of(t, row, &n);

	for (size_t i = 0; i < n; i++)
		json_put_text(stack, NULL, frames[i]);
	return stack;
}

void table_put(const struct table *t, size_t row, struct json *object)
{
	for (size_t i = 0; i < t->n_columns; i++) {
		struct cell cell = cell_at(t, row, i);
		const char *key = t->columns[i].key;

		if (i == t->stack)
			json_put(object, key, stack_json(t, row));
		else if (key)
			cell_put(&cell, object, key);
	}
}

static struct json *row_json(const struct table *t, size_t row)
{
	struct json *object = json_object();

	table_put(t, row, object);
	return object;
}

struct json *table_json(const struct table *t)
{
	struct json *rows = json_array();

	for (size_t row = 0; row < t->n_rows - t->has_total; row++)
		json_put(rows, NULL, row_json(t, row));
	return rows;
}

void table_add_json(const struct table *t, struct buf *out)
{
	for (size_t row = 0; row < t->n_rows - t->has_total; row++) {
		struct json *object = row_json(t, row);

		json_add_document(out, object);
		buf_addc(out, '\n');
		json_free(object);
	}
}

void table_output(const struct table *t, const char *key, int64_t pid, bool json, FILE *out)
{
	struct json *doc;

	if (!json) {
		table_print(t, out);
		return;
	}
	doc = json_object();
	json_put_number(doc, "pid", pid);
	json_put(doc, key, table_json(t));
	json_print_take(doc, out);
}
