#include "render/jfr/jfr_table.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "base/printable.h"
#include "render/jfr/jfr_event_json.h"
#include "render/limit.h"
#include "render/table.h"
#include "render/units.h"

#define KEY_MAX 32

static void show_integer(const struct jfr_cell *cell, struct buf *out)
{
	switch (cell->content) {
	case JFR_TIMESTAMP_TICKS:
		jfr_time_add(out, cell->integer);
		break;
	case JFR_TIMESPAN_NS:
		if (cell->integer < 0)
			buf_addc(out, '-');
		units_nanos(out, cell->integer < 0 ? -(uint64_t)cell->integer
						   : (uint64_t)cell->integer);
		break;
	case JFR_DATA_BYTES:
		units_bytes(out, cell->integer);
		break;
	case JFR_DATA_BITS:
		units_bytes(out, cell->integer / 8);
		break;
	case JFR_ADDRESS:
		buf_addf(out, "0x%" PRIx64, (uint64_t)cell->integer);
		break;
	default:
		buf_addf(out, "%" PRId64, cell->integer);
	}
	if (cell->is_rate)
		buf_adds(out, cell->content == JFR_PLAIN ? " Hz" : "/s");
}

static void show_real(const struct jfr_cell *cell, struct buf *out)
{
	struct jfr_cell integer = *cell;

	if (cell->content == JFR_PERCENTAGE) {
		buf_addf(out, "%.2f %%", 100 * cell->real);
	} else if (cell->content == JFR_PLAIN || cell->real > 9e18 || cell->real < -9e18) {
		buf_addf(out, "%.2f", cell->real);
	} else {
		integer.integer = (int64_t)cell->real;
		show_integer(&integer, out);
	}
}

void jfr_cell_show(const struct jfr_query_run *run, const struct jfr_cell *cell, struct buf *out)
{
	if (cell->is_unlimited) {
		buf_adds(out, "unlimited");
		return;
	}
	switch (cell->kind) {
	case JFR_CELL_NONE:
		buf_addc(out, '-');
		break;
	case JFR_CELL_INTEGER:
		show_integer(cell, out);
		break;
	case JFR_CELL_REAL:
		show_real(cell, out);
		break;
	case JFR_CELL_TRUTH:
		buf_adds(out, cell->integer ? "true" : "false");
		break;
	case JFR_CELL_TEXT:
		buf_adds(out, jfr_query_text(run, cell));
	}
}

/*
 * Writes the heading for a key: the words of the key, separated by spaces.  The heading is "LONGEST
 * PAUSE" if `upper` is set, else "longest pause".
 */
static void heading_of(const char *key, bool upper, char heading[static KEY_MAX])
{
	size_t i;

	for (i = 0; i < KEY_MAX - 1 && key[i]; i++)
		heading[i] = (char)(key[i] == '_' ? ' ' : upper ? toupper(key[i]) : key[i]);
	heading[i] = '\0';
}

static void add_form(const struct jfr_query *query, const struct jfr_query_run *run,
		     struct buf *out)
{
	size_t width = 0;

	for (size_t i = 0; i < query->n_columns; i++) {
		size_t len = strlen(query->columns[i].key);

		width = len > width ? len : width;
	}
	for (size_t i = 0; i < query->n_columns; i++) {
		struct jfr_cell cell = jfr_query_cell(run, 0, i);
		_cleanup_buf_ struct buf text = BUF_INIT;
		char heading[KEY_MAX];

		heading_of(query->columns[i].key, false, heading);
		jfr_cell_show(run, &cell, &text);
		buf_addf(out, "%s:%*s", heading, (int)(width + 2 - strlen(heading) - 1), "");
		printable_add(out, text.data, text.len);
		buf_addc(out, '\n');
	}
}

/* The headings of a table's columns; the table has pointers to them. */
struct headings {
	char names[JFR_COLUMNS_MAX][KEY_MAX];
	enum cell_type types[JFR_COLUMNS_MAX];
};

static enum cell_type type_of_cell(const struct jfr_cell *cell, enum jfr_aggregate aggregate)
{
	if (cell->is_rate || cell->is_unlimited)
		return CELL_TEXT;
	if (cell->content == JFR_PERCENTAGE)
		return CELL_PERCENT;
	if (cell->content == JFR_DATA_BYTES && cell->kind == JFR_CELL_INTEGER)
		return CELL_BYTES;
	if (cell->content == JFR_TIMESPAN_NS && cell->kind == JFR_CELL_INTEGER &&
	    cell->integer >= 0)
		return CELL_NANOS;
	if (cell->kind == JFR_CELL_INTEGER && cell->content == JFR_PLAIN)
		return aggregate == JFR_COUNT_OF || aggregate == JFR_SUM_OF ? CELL_COUNT
									    : CELL_NUMBER;
	return CELL_TEXT;
}

/* Returns the type of a column's cells.  If the cells have different types, returns CELL_TEXT. */
static enum cell_type type_of_column(const struct jfr_query *query,
				     const struct jfr_query_run *run, size_t column, size_t n)
{
	enum cell_type type = CELL_TEXT;
	bool known = false;

	for (size_t i = 0; i < n; i++) {
		struct jfr_cell cell = jfr_query_cell(run, i, column);
		enum cell_type own;

		if (cell.kind == JFR_CELL_NONE)
			continue;
		own = type_of_cell(&cell, query->columns[column].aggregate);
		if (known && own != type)
			return CELL_TEXT;
		type = own;
		known = true;
	}
	return type;
}

static void set_cell(struct table *table, size_t column, enum cell_type type,
		     const struct jfr_query_run *run, const struct jfr_cell *cell)
{
	_cleanup_buf_ struct buf text = BUF_INIT;

	if (cell->kind == JFR_CELL_NONE)
		return;
	if (type == CELL_PERCENT) {
		double share = cell->kind == JFR_CELL_REAL ? cell->real : (double)cell->integer;

		table_real(table, column, 100 * share);
	} else if (type != CELL_TEXT) {
		table_number(table, column, cell->integer);
	} else {
		jfr_cell_show(run, cell, &text);
		table_text(table, column, buf_str(&text));
	}
}

static struct table *new_table(const struct jfr_query *query, const struct jfr_query_run *run,
			       size_t n, struct headings *h)
{
	struct column columns[JFR_COLUMNS_MAX];
	size_t n_columns = query->n_columns;
	struct table *table;

	for (size_t i = 0; i < n_columns; i++) {
		heading_of(query->columns[i].key, true, h->names[i]);
		h->types[i] = type_of_column(query, run, i, n);
		if (h->types[i] == CELL_PERCENT && strlen(h->names[i]) < KEY_MAX - 2)
			memcpy(h->names[i] + strlen(h->names[i]), " %", 3);
		columns[i] = (struct column){ h->names[i], query->columns[i].key, h->types[i],
					      false };
	}
	table = table_new(columns, n_columns);
	for (size_t i = 0; i < n; i++) {
		table_row(table);
		for (size_t j = 0; j < n_columns; j++) {
			struct jfr_cell cell = jfr_query_cell(run, i, j);

			set_cell(table, j, h->types[j], run, &cell);
		}
	}
	return table;
}

void jfr_table_add(const struct jfr_query *query, const struct jfr_query_run *run, size_t n,
		   bool tells_more, struct buf *out)
{
	size_t rows = jfr_query_rows(run);
	struct headings headings;
	struct table *table;

	if (rows == 0) {
		buf_adds(out, "none\n");
		return;
	}
	if (query->is_form) {
		add_form(query, run, out);
		return;
	}
	table = new_table(query, run, n, &headings);
	table_add(table, out);
	table_free(table);
	if (tells_more)
		limit_add_more(out, rows - n, "row", "rows");
}

static void put_cell(const struct jfr_query_run *run, const struct jfr_cell *cell,
		     struct json *object, const char *key)
{
	_cleanup_buf_ struct buf text = BUF_INIT;

	if (cell->kind == JFR_CELL_NONE || cell->is_unlimited) {
		json_put_null(object, key);
	} else if (cell->kind == JFR_CELL_TEXT) {
		json_put_text(object, key, jfr_query_text(run, cell));
	} else if (cell->kind == JFR_CELL_TRUTH) {
		json_put_bool(object, key, cell->integer);
	} else if (cell->kind == JFR_CELL_REAL) {
		json_put_real(object, key, cell->real);
	} else if (cell->content == JFR_TIMESTAMP_TICKS) {
		jfr_time_add(&text, cell->integer);
		json_put_text(object, key, buf_str(&text));
	} else if (cell->content == JFR_TIMESPAN_NS) {
		json_put_real(object, key, (double)cell->integer / 1e9);
	} else {
		json_put_number(object, key, cell->integer);
	}
}

struct json *jfr_table_json(const struct jfr_query *query, const struct jfr_query_run *run,
			    size_t n)
{
	struct json *array = json_array();

	for (size_t i = 0; i < n; i++) {
		struct json *row = json_object();

		for (size_t j = 0; j < query->n_columns; j++) {
			struct jfr_cell cell = jfr_query_cell(run, i, j);

			put_cell(run, &cell, row, query->columns[j].key);
		}
		json_put(array, NULL, row);
	}
	return array;
}
