/* Computes the aggregate values of each group of a query, and sorts the rows. */
#include <math.h>
#include <string.h>

#include "base/xalloc.h"
#include "model/jfr/query/jfr_query_internal.h"

static double number_of(const struct jfr_cell *c)
{
	return c->kind == JFR_CELL_REAL ? c->real : (double)c->integer;
}

static bool is_number(const struct jfr_cell *c)
{
	return (c->kind == JFR_CELL_INTEGER || (c->kind == JFR_CELL_REAL && isfinite(c->real))) &&
	       !c->is_unlimited;
}

static bool keeps_values(enum jfr_aggregate a)
{
	return a == JFR_UNIQUE || (a >= JFR_MEDIAN && a <= JFR_P999);
}

static void add_number(struct jfr_sum *s, const struct jfr_cell *cell)
{
	if (cell->kind == JFR_CELL_INTEGER &&
	    __builtin_add_overflow(s->integers, cell->integer, &s->integers))
		s->integers = cell->integer < 0 ? INT64_MIN : INT64_MAX;
	s->total += number_of(cell);
	s->count++;
}

static void set_last(struct jfr_sum *s, const struct jfr_cell *cell, int64_t time)
{
	if (s->cell.kind == JFR_CELL_NONE || time >= s->time) {
		s->cell = *cell;
		s->time = time;
	}
}

static void set_first(struct jfr_sum *s, const struct jfr_cell *cell, int64_t time)
{
	if (s->count == 0 || time < s->first_time) {
		s->first = *cell;
		s->first_time = time;
	}
}

static void set_ends(struct jfr_sum *s, const struct jfr_cell *cell, int64_t time)
{
	set_first(s, cell, time);
	set_last(s, cell, time);
}

static void keep_value(struct jfr_query_run *run, struct jfr_sum *s, double value)
{
	s->values = xgrow(s->values, s->n, &s->cap, sizeof(*s->values));
	s->values[s->n++] = value;
	run->owner->used += sizeof(*s->values);
}

void jfr_sum_add(struct jfr_query_run *run, struct jfr_sum *s, unsigned column,
		 const struct jfr_cell *cell, uint32_t group, int64_t time)
{
	enum jfr_aggregate a = run->query->columns[column].aggregate;

	if (a == JFR_COUNT_OF) {
		s->count++;
	} else if (a == JFR_UNIQUE) {
		keep_value(run, s, group);
	} else if (a == JFR_FIRST) {
		set_first(s, cell, time);
		s->count++;
	} else if (a == JFR_LAST || a == JFR_LATEST) {
		set_last(s, cell, time);
		if (a == JFR_LATEST && time > run->last_time[column])
			run->last_time[column] = time;
	} else if (cell->kind == JFR_CELL_NONE) {
		return;
	} else if (a == JFR_ANY) {
		set_last(s, cell, time);
	} else if (is_number(cell)) {
		if (keeps_values(a))
			keep_value(run, s, number_of(cell));
		if (a == JFR_LEAST && s->count > 0)
			s->cell = number_of(cell) < number_of(&s->cell) ? *cell : s->cell;
		else if (a == JFR_GREATEST && s->count > 0)
			s->cell = number_of(cell) > number_of(&s->cell) ? *cell : s->cell;
		else if (a == JFR_DIFFERENCE)
			set_ends(s, cell, time);
		else
			s->cell = *cell;
		add_number(s, cell);
	}
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

/* Returns the percentile at `share` (0 to 1), interpolated between the two nearest values. */
static double percentile(const struct jfr_sum *s, double share)
{
	double at = (double)(s->n + 1) * share;
	size_t next = (size_t)at;

	if (next == 0)
		return s->values[0];
	if (next >= s->n)
		return s->values[s->n - 1];
	return s->values[next - 1] + (at - (double)next) * (s->values[next] - s->values[next - 1]);
}

static double median(const struct jfr_sum *s)
{
	size_t half = s->n / 2;

	return s->n % 2 ? s->values[half] : (s->values[half - 1] + s->values[half]) / 2;
}

static struct jfr_cell integer_cell(int64_t value)
{
	return (struct jfr_cell){ .kind = JFR_CELL_INTEGER, .integer = value };
}

static int64_t to_integer(double value)
{
	if (value > 9.2e18 || value < -9.2e18)
		return value > 0 ? INT64_MAX : INT64_MIN;
	return (int64_t)(value < 0 ? value - 0.5 : value + 0.5);
}

/* Returns a cell with `value` in the unit of the column's values.  Time spans are rounded to ns. */
static struct jfr_cell real_cell(const struct jfr_sum *s, double value)
{
	struct jfr_cell cell = s->cell;

	if (cell.content == JFR_TIMESPAN_NS) {
		cell.kind = JFR_CELL_INTEGER;
		cell.integer = to_integer(value);
	} else {
		cell.kind = JFR_CELL_REAL;
		cell.real = value;
	}
	return cell;
}

static struct jfr_cell sum_cell(const struct jfr_sum *s)
{
	struct jfr_cell cell = s->cell;

	if (cell.kind == JFR_CELL_REAL)
		cell.real = s->total;
	else
		cell.integer = s->integers;
	return cell;
}

static struct jfr_cell difference_cell(const struct jfr_sum *s)
{
	struct jfr_cell cell = s->cell;

	if (cell.kind == JFR_CELL_REAL) {
		cell.real -= s->first.real;
	} else if (__builtin_sub_overflow(cell.integer, s->first.integer, &cell.integer)) {
		cell.kind = JFR_CELL_NONE;
	}
	if (cell.content == JFR_TIMESTAMP_TICKS) {
		cell.content = JFR_TIMESPAN_NS;
		cell.is_unlimited = s->count == 1;
	}
	return cell;
}

static struct jfr_cell unique_cell(const struct jfr_sum *s)
{
	int64_t n = s->n > 0;

	for (size_t i = 1; i < s->n; i++)
		n += s->values[i] > s->values[i - 1];
	return integer_cell(n);
}

struct jfr_cell jfr_sum_result(struct jfr_sum *s, enum jfr_aggregate a)
{
	const struct jfr_cell none = { .kind = JFR_CELL_NONE };

	if (keeps_values(a) && s->n > 0)
		qsort(s->values, s->n, sizeof(*s->values), by_value);
	if (a == JFR_COUNT_OF)
		return integer_cell((int64_t)s->count);
	if (a == JFR_UNIQUE)
		return unique_cell(s);
	if (a == JFR_FIRST)
		return s->count > 0 ? s->first : none;
	if (a == JFR_ANY || a == JFR_LAST || a == JFR_LATEST)
		return s->cell;
	if (s->count == 0)
		return none;
	switch (a) {
	case JFR_SUM_OF:
		return sum_cell(s);
	case JFR_MEAN:
		return real_cell(s, s->total / (double)s->count);
	case JFR_MEDIAN:
		return real_cell(s, median(s));
	case JFR_P90:
		return real_cell(s, percentile(s, 0.90));
	case JFR_P95:
		return real_cell(s, percentile(s, 0.95));
	case JFR_P99:
		return real_cell(s, percentile(s, 0.99));
	case JFR_P999:
		return real_cell(s, percentile(s, 0.999));
	case JFR_DIFFERENCE:
		return difference_cell(s);
	default:
		return s->cell;
	}
}

/*
 * Returns whether the row has the latest values: in each JFR_LATEST column, the time of the row's
 * value is the latest time of all rows.  The caller removes a row whose values are outdated.
 */
static bool is_latest(const struct jfr_query_run *run, const struct jfr_sum *sums)
{
	for (size_t i = 0; i < run->n_columns; i++) {
		if (run->query->columns[i].aggregate == JFR_LATEST &&
		    sums[i].cell.kind != JFR_CELL_NONE && sums[i].time != run->last_time[i])
			return false;
	}
	return true;
}

struct sorting {
	const struct jfr_query_run *run;
	int column; /* column number from 1; negative: descending order */
};

static int compare_cells(const struct jfr_query_run *run, const struct jfr_cell *a,
			 const struct jfr_cell *b)
{
	double x, y;

	if (a->kind == JFR_CELL_NONE || b->kind == JFR_CELL_NONE)
		return (a->kind != JFR_CELL_NONE) - (b->kind != JFR_CELL_NONE);
	if (a->kind == JFR_CELL_TEXT && b->kind == JFR_CELL_TEXT)
		return strcmp(jfr_query_text(run, a), jfr_query_text(run, b));
	if (a->kind == JFR_CELL_TEXT || b->kind == JFR_CELL_TEXT)
		return a->kind == JFR_CELL_TEXT ? -1 : 1;
	if (a->kind == JFR_CELL_INTEGER && b->kind == JFR_CELL_INTEGER)
		return a->integer < b->integer ? -1 : a->integer > b->integer;
	x = number_of(a);
	y = number_of(b);
	return x < y ? -1 : x > y;
}

static int by_column(const void *a, const void *b, void *arg)
{
	const struct sorting *s = arg;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	size_t column = (size_t)(s->column < 0 ? -s->column : s->column) - 1, n = s->run->n_columns;
	int order = compare_cells(s->run, &s->run->cells[x * n + column],
				  &s->run->cells[y * n + column]);

	if (order == 0)
		return x < y ? -1 : x > y;
	return s->column < 0 ? -order : order;
}

/*
 * Sorts the rows by a column, and numbers them in the new order.  The next sort keeps this order
 * for rows whose values are equal.
 */
static void sort_by(struct jfr_query_run *run, int column)
{
	struct sorting s = { run, column };
	size_t n = run->n_columns;
	struct jfr_cell *sorted;

	if (column == 0 || run->n_rows < 2)
		return;
	qsort_r(run->order, run->n_rows, sizeof(*run->order), by_column, &s);
	sorted = xreallocarray(NULL, run->n_rows * n, sizeof(*sorted));
	for (size_t i = 0; i < run->n_rows; i++) {
		memcpy(&sorted[i * n], &run->cells[run->order[i] * n], n * sizeof(*sorted));
		run->order[i] = (uint32_t)i;
	}
	free(run->cells);
	run->cells = sorted;
}

static void sum_shares(struct jfr_query_run *run)
{
	for (size_t i = 0; i < run->n_rows * run->n_columns; i++) {
		if (is_number(&run->cells[i]))
			run->share_sums[i % run->n_columns] += number_of(&run->cells[i]);
	}
}

void jfr_query_finish(struct jfr_query_run *run)
{
	size_t n = run->n_columns, rows = 0;

	run->cells = xcalloc(run->n_rows * n + 1, sizeof(*run->cells));
	run->order = xcalloc(run->n_rows + 1, sizeof(*run->order));
	for (size_t i = 0; i < run->n_rows; i++) {
		struct jfr_sum *sums = &run->sums[i * n];
		bool wanted = is_latest(run, sums);

		for (size_t j = 0; j < n; j++) {
			if (wanted)
				run->cells[rows * n + j] = jfr_sum_result(
					&sums[j], run->query->columns[j].aggregate);
			free(sums[j].values);
		}
		run->order[rows] = (uint32_t)rows;
		rows += wanted;
	}
	free(run->sums);
	run->sums = NULL;
	run->n_rows = rows;
	sum_shares(run);
	sort_by(run, run->query->order[1]);
	sort_by(run, run->query->order[0]);
}
