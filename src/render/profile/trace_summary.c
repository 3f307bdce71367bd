#include "render/profile/trace_summary.h"

#include <inttypes.h>
#include <string.h>

#include "base/printable.h"
#include "base/xalloc.h"
#include "render/profile/trace_call.h"
#include "render/table.h"
#include "render/units.h"

#define UP "\033[%zuA\r"
#define CLEAR_LINE "\033[K"
#define CLEAR_BELOW "\033[J"
#define SHORT "..."
#define NAME_LEAST 16 /* minimum width of the column METHOD, in cells */

enum { METHOD, COUNT, ERRORS, MIN, MEAN, P50, P95, P99, MAX, TOTAL };

static const struct column columns[] = {
	[METHOD] = { "METHOD", "method", CELL_TEXT, false },
	[COUNT] = { "COUNT", "count", CELL_NUMBER, false },
	[ERRORS] = { "ERRORS", "errors", CELL_NUMBER, false },
	[MIN] = { "MIN", "min", CELL_NANOS, false },
	[MEAN] = { "MEAN", "mean", CELL_NANOS, false },
	[P50] = { "P50", "p50", CELL_NANOS, false },
	[P95] = { "P95", "p95", CELL_NANOS, false },
	[P99] = { "P99", "p99", CELL_NANOS, false },
	[MAX] = { "MAX", "max", CELL_NANOS, false },
	[TOTAL] = { "TOTAL", "total", CELL_NANOS, true },
};

/* A row of the table.  Only methods that were called have a row. */
struct row {
	uint32_t method;
	uint64_t ns;
};

static int compare_rows(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns < y->ns ? 1 : -1;
	return (x->method > y->method) - (x->method < y->method);
}

/*
 * Returns an array with a row for each method that was called; the row with the longest total time
 * is the first.  The caller frees the array.  Sets *n_idle to the number of methods that were not
 * called.
 */
static struct row *find_rows(const struct trace *t, size_t *n, size_t *n_idle)
{
	struct row *rows = xcalloc(t->n + 1, sizeof(*rows));

	*n = *n_idle = 0;
	for (size_t i = 0; i < t->n; i++) {
		const struct trace_method *m = &t->methods[i];

		if (m->sum.calls > 0)
			rows[(*n)++] = (struct row){ (uint32_t)i, m->sum.ns };
		else if (!m->refused)
			++*n_idle;
	}
	qsort(rows, *n, sizeof(*rows), compare_rows);
	return rows;
}

/* Returns how many bytes the first character of `text` has.  `len` must not be 0. */
static size_t one_char(const char *text, size_t len)
{
	size_t n = utf8_sequence_len(text, len);

	return n > 0 ? n : 1;
}

/*
 * Appends the start of a line, as much as `width` cells have room for.  Returns the number of cells
 * that the appended part takes.
 */
static size_t add_clipped(struct buf *out, const char *line, size_t len, size_t width)
{
	size_t used = 0;

	for (size_t i = 0; i < len;) {
		size_t n = one_char(line + i, len - i), cells = printable_width(line + i, n);

		if (used + cells > width)
			break;
		buf_add(out, line + i, n);
		used += cells;
		i += n;
	}
	return used;
}

/* Appends "..." and the end of a text, as much of it as `width` cells have room for after "...". */
static void add_last(struct buf *out, const char *text, size_t len, size_t width)
{
	buf_adds(out, SHORT);
	width -= sizeof(SHORT) - 1;
	while (printable_width(text, len) > width) {
		size_t n = one_char(text, len);

		text += n;
		len -= n;
	}
	buf_add(out, text, len);
}

/* Appends `types` without their packages: "(int, String)" for "(int, java.lang.String)". */
static void add_simple_types(struct buf *out, const char *types)
{
	for (size_t len; *types; types += len) {
		const char *dot;

		len = strspn(types, "(, ");
		buf_add(out, types, len);
		types += len;
		len = strcspn(types, ", ");
		dot = memrchr(types, '.', len);
		buf_add(out, dot ? dot + 1 : types, len - (dot ? (size_t)(dot + 1 - types) : 0));
	}
}

/*
 * Appends a method's name in at most `widest` cells.  Cuts off the start of the class and method
 * name, or the end of the parameter types, so that the rest still identifies the method.
 */
static void add_short(struct buf *out, const struct buf *full, size_t widest)
{
	_cleanup_free_ char *name = printable_add_str(buf_str(full));
	size_t len = strcspn(name, "("), width = printable_width(name, len);
	size_t room = widest - (sizeof(SHORT) - 1);
	_cleanup_buf_ struct buf types = BUF_INIT;

	if (printable_width(name, strlen(name)) <= widest) {
		buf_adds(out, name);
		return;
	}
	if (width > room) {
		add_last(out, name, len, widest);
		return;
	}
	buf_add(out, name, len);
	add_simple_types(&types, name + len);
	if (width + printable_width(buf_str(&types), types.len) <= widest) {
		buf_add(out, buf_str(&types), types.len);
		return;
	}
	(void)add_clipped(out, buf_str(&types), types.len, room - width);
	buf_adds(out, SHORT);
}

static void add_row(struct table *table, const struct trace *t, uint32_t method, size_t widest)
{
	const struct trace_sum *sum = &t->methods[method].sum;
	_cleanup_buf_ struct buf name = BUF_INIT, shown = BUF_INIT;

	trace_method_name(t, method, &name);
	if (widest < SIZE_MAX)
		add_short(&shown, &name, widest);
	table_row(table);
	table_text(table, METHOD, buf_str(widest < SIZE_MAX ? &shown : &name));
	table_unsigned(table, COUNT, sum->calls);
	table_unsigned(table, ERRORS, sum->threw);
	table_unsigned(table, TOTAL, sum->ns);
	if (sum->calls == 0)
		return;
	table_unsigned(table, MIN, sum->min_ns);
	table_unsigned(table, MEAN, trace_mean(sum));
	table_unsigned(table, MAX, sum->max_ns);
	if (!sum->buckets) /* there are no buckets, because the agent had no memory for them */
		return;
	table_unsigned(table, P50, trace_quantile(sum, 0.50));
	table_unsigned(table, P95, trace_quantile(sum, 0.95));
	table_unsigned(table, P99, trace_quantile(sum, 0.99));
}

/* The columns that a narrow terminal does not show; the first one is hidden first. */
static const uint8_t expendable[] = { MIN, P50, P99 };

struct form {
	size_t widest;   /* maximum width of a method name, in terminal cells */
	size_t n_hidden; /* the first n_hidden columns of `expendable` are hidden */
};

static void add_table(struct buf *out, const struct trace *t, const struct row *rows, size_t n,
		      const struct form *form)
{
	struct column shown[ARRAY_SIZE(columns)];
	struct table *table;

	memcpy(shown, columns, sizeof(shown));
	for (size_t i = 0; i < form->n_hidden; i++)
		shown[expendable[i]].hidden = true;
	table = table_new(shown, ARRAY_SIZE(shown));
	for (size_t i = 0; i < n; i++)
		add_row(table, t, rows[i].method, form->widest);
	table_add(table, out);
	table_free(table);
}

/* Appends a line with the number n: "2 methods were not called".  If n is 0, does nothing. */
static void add_count_line(struct buf *out, size_t n, const char *one, const char *many)
{
	if (n == 0)
		return;
	units_count(out, n);
	buf_addf(out, " %s\n", n == 1 ? one : many);
}

/*
 * Returns the last state that the agent has sent.  The methods' sums may be up to 1 s newer than
 * the state.  So if the sums contain more calls, sets state.calls to their number of calls.
 */
static struct trace_state state_of(const struct trace *t)
{
	struct trace_state state = t->state;
	uint64_t calls = 0;

	for (size_t i = 0; i < t->n; i++)
		if (__builtin_add_overflow(calls, t->methods[i].sum.calls, &calls))
			calls = UINT64_MAX;
	if (calls > state.calls)
		state.calls = calls;
	return state;
}

static void add_end(struct buf *out, const struct trace *t, size_t n_hidden, size_t n_idle)
{
	struct trace_state state = state_of(t);

	add_count_line(out, n_hidden, "more method", "more methods");
	add_count_line(out, n_idle, "method was not called", "methods were not called");
	trace_text_state(out, &state);
	buf_addc(out, '\n');
}

void trace_summary_add(struct buf *out, const struct trace *t)
{
	size_t n, n_idle;
	_cleanup_free_ struct row *rows = find_rows(t, &n, &n_idle);

	add_table(out, t, rows, n, &(struct form){ .widest = SIZE_MAX });
	add_end(out, t, 0, n_idle);
}

void trace_summary_add_json(struct buf *out, const struct trace *t)
{
	struct table *table = table_new(columns, ARRAY_SIZE(columns));
	size_t n, n_idle;
	_cleanup_free_ struct row *rows = find_rows(t, &n, &n_idle);

	for (size_t i = 0; i < n; i++)
		add_row(table, t, rows[i].method, SIZE_MAX);
	for (size_t i = 0; i < t->n; i++) {
		if (t->methods[i].sum.calls == 0 && !t->methods[i].refused)
			add_row(table, t, (uint32_t)i, SIZE_MAX);
	}
	table_add_json(table, out);
	table_free(table);
}

static size_t widest_line(const struct buf *text)
{
	size_t widest = 0;

	for (const char *at = buf_str(text), *end; *at; at = end + 1) {
		size_t width;

		end = strchr(at, '\n');
		width = printable_width(at, (size_t)(end - at));
		if (width > widest)
			widest = width;
	}
	return widest;
}

/*
 * Appends the table, which then has at most `width` cells in each line: shortens the method names;
 * if the table is still too wide, hides columns.
 */
static void add_fitting(struct buf *out, const struct trace *t, const struct row *rows, size_t n,
			size_t width)
{
	struct form form = { .widest = NAME_LEAST };
	size_t least;

	add_table(out, t, rows, n, &form);
	while ((least = widest_line(out)) > width && form.n_hidden < ARRAY_SIZE(expendable)) {
		form.n_hidden++;
		buf_reset(out);
		add_table(out, t, rows, n, &form);
	}
	if (least >= width)
		return;
	form.widest += width - least;
	buf_reset(out);
	add_table(out, t, rows, n, &form);
}

/*
 * Returns how many lines the previous table now takes on the terminal.  They may be more than the
 * lines of the table, because a terminal that has become narrower wraps these lines.
 */
static size_t lines_above(const struct trace_summary *s, struct terminal terminal)
{
	size_t lines = 0;

	for (size_t i = 0; i < s->n; i++)
		lines += s->widths[i] > 0 ? (s->widths[i] - 1) / terminal.columns + 1 : 1;
	return lines < terminal.rows ? lines : terminal.rows - 1;
}

static void go_up(const struct trace_summary *s, struct buf *out, struct terminal terminal)
{
	size_t lines = lines_above(s, terminal);

	if (lines > 0)
		buf_addf(out, UP, lines);
}

/*
 * Draws the table.  Leaves the terminal's last column empty, because some terminals wrap there, and
 * the last line, because the cursor is there.
 */
void trace_summary_draw(struct trace_summary *s, struct buf *out, const struct trace *t,
			struct terminal terminal)
{
	_cleanup_buf_ struct buf text = BUF_INIT;
	size_t n, n_idle, lines = 0, most = terminal.rows - 1, width = terminal.columns - 1;
	_cleanup_free_ struct row *rows = find_rows(t, &n, &n_idle);
	size_t others = 2 + (n_idle > 0); /* lines: the heading, the state, the idle methods */
	size_t room = most > others ? most - others : 0;
	size_t shown = n <= room ? n : room > 0 ? room - 1 : 0; /* 1 line is for "N more methods" */

	add_fitting(&text, t, rows, shown, width);
	add_end(&text, t, n - shown, n_idle);
	go_up(s, out, terminal);
	s->widths = xreallocarray(s->widths, most + 1, sizeof(*s->widths));
	for (const char *at = buf_str(&text), *end; *at && lines < most; at = end + 1) {
		end = strchr(at, '\n');
		s->widths[lines++] = add_clipped(out, at, (size_t)(end - at), width);
		buf_adds(out, CLEAR_LINE "\n");
	}
	s->n = lines;
	buf_adds(out, CLEAR_BELOW);
}

void trace_summary_end(struct trace_summary *s, struct buf *out, const struct trace *t,
		       struct terminal terminal)
{
	if (s->n > 0) {
		go_up(s, out, terminal);
		buf_adds(out, CLEAR_BELOW);
	}
	trace_summary_add(out, t);
	free(s->widths);
	*s = (struct trace_summary){ 0 };
}
