#include "render/trace_summary.h"

#include <inttypes.h>
#include <string.h>

#include "base/text.h"
#include "base/xalloc.h"
#include "render/json.h"
#include "render/table.h"
#include "render/trace_text.h"
#include "render/units.h"

#define UP "\033[%zuA\r"
#define CLEAR_LINE "\033[K"
#define CLEAR_BELOW "\033[J"
#define SHORT "..."
#define NAME_LEAST 16 /* a name is not made shorter than that */

enum { METHOD, COUNT, ERRORS, MIN, MEAN, P50, P95, P99, MAX };

static const struct column columns[] = {
	[METHOD] = { "METHOD", "method", COL_TEXT, false, NULL },
	[COUNT] = { "COUNT", "count", COL_NUMBER, false, NULL },
	[ERRORS] = { "ERRORS", "errors", COL_NUMBER, false, NULL },
	[MIN] = { "MIN", "min", COL_NANOS, false, NULL },
	[MEAN] = { "MEAN", "mean", COL_NANOS, false, NULL },
	[P50] = { "P50", "p50", COL_NANOS, false, NULL },
	[P95] = { "P95", "p95", COL_NANOS, false, NULL },
	[P99] = { "P99", "p99", COL_NANOS, false, NULL },
	[MAX] = { "MAX", "max", COL_NANOS, false, NULL },
};

/* A method that was called. */
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

/* Those that were called, in order; the caller frees them.  Another number: who were not. */
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

/* The first character's length; there is one. */
static size_t one_char(const char *text, size_t len)
{
	size_t n = text_utf8_len(text, len);

	return n > 0 ? n : 1;
}

/* Add what fits of a line into the width; returns how wide that is. */
static size_t add_clipped(struct buf *out, const char *line, size_t len, size_t width)
{
	size_t used = 0;

	for (size_t i = 0; i < len;) {
		size_t n = one_char(line + i, len - i), cells = text_width(line + i, n);

		if (used + cells > width)
			break;
		buf_add(out, line + i, n);
		used += cells;
		i += n;
	}
	return used;
}

/* The last characters of a text that is wider than that. */
static void add_last(struct buf *out, const char *text, size_t len, size_t width)
{
	buf_adds(out, SHORT);
	width -= sizeof(SHORT) - 1;
	while (text_width(text, len) > width) {
		size_t n = one_char(text, len);

		text += n;
		len -= n;
	}
	buf_add(out, text, len);
}

/* "(int, java.lang.String)" without packages. */
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

/* Of a method's name the end is what tells it from others, of its types the beginning. */
static void add_short(struct buf *out, const char *name, size_t widest)
{
	size_t len = strcspn(name, "("), width = text_width(name, len);
	size_t room = widest - (sizeof(SHORT) - 1);
	_cleanup_buf_ struct buf types = BUF_INIT;

	if (text_width(name, strlen(name)) <= widest) {
		buf_adds(out, name);
		return;
	}
	if (width > room) {
		add_last(out, name, len, widest);
		return;
	}
	buf_add(out, name, len);
	add_simple_types(&types, name + len);
	if (width + text_width(buf_str(&types), types.len) <= widest) {
		buf_add(out, buf_str(&types), types.len);
		return;
	}
	(void)add_clipped(out, buf_str(&types), types.len, room - width);
	buf_adds(out, SHORT);
}

static int64_t figure(uint64_t value)
{
	return value < INT64_MAX ? (int64_t)value : INT64_MAX;
}

static void add_row(struct table *table, const struct trace *t, uint32_t method, size_t widest)
{
	const struct trace_sum *sum = &t->methods[method].sum;
	_cleanup_buf_ struct buf name = BUF_INIT, safe = BUF_INIT, shown = BUF_INIT;

	trace_method_name(t, method, &name);
	text_printable(&safe, buf_str(&name), name.len);
	add_short(&shown, buf_str(&safe), widest);
	table_row(table);
	table_text(table, METHOD, buf_str(&shown));
	table_number(table, COUNT, figure(sum->calls));
	table_number(table, ERRORS, figure(sum->threw));
	table_number(table, MIN, figure(sum->min_ns));
	table_number(table, MEAN, figure(trace_mean(sum)));
	table_number(table, MAX, figure(sum->max_ns));
	if (!sum->buckets) /* the agent had no room for them: not known */
		return;
	table_number(table, P50, figure(trace_quantile(sum, 0.50)));
	table_number(table, P95, figure(trace_quantile(sum, 0.95)));
	table_number(table, P99, figure(trace_quantile(sum, 0.99)));
}

/* What is left out first where there is not enough room. */
static const uint8_t expendable[] = { MIN, P50, P99 };

/* In what form it is printed. */
struct form {
	size_t widest;     /* name */
	size_t n_left_out; /* of the columns that are expendable */
};

static void add_table(struct buf *out, const struct trace *t, const struct row *rows, size_t n,
		      const struct form *form)
{
	struct column shown[ARRAY_SIZE(columns)];
	struct table *table;

	memcpy(shown, columns, sizeof(shown));
	for (size_t i = 0; i < form->n_left_out; i++)
		shown[expendable[i]].hidden = true;
	table = table_new(shown, ARRAY_SIZE(shown));
	for (size_t i = 0; i < n; i++)
		add_row(table, t, rows[i].method, form->widest);
	table_add(table, out);
	table_free(table);
}

/* "2 methods were not called" */
static void add_remark(struct buf *out, size_t n, const char *one, const char *many)
{
	if (n == 0)
		return;
	units_count(out, n);
	buf_addf(out, " %s\n", n == 1 ? one : many);
}

/* What the agent said last of all calls is older than the sums: at most by a second. */
static struct trace_state state_of(const struct trace *t)
{
	struct trace_state state = t->state;
	uint64_t calls = 0;

	for (size_t i = 0; i < t->n; i++)
		calls += t->methods[i].sum.calls;
	if (calls > state.calls)
		state.calls = calls;
	return state;
}

static void add_end(struct buf *out, const struct trace *t, size_t n_hidden, size_t n_idle)
{
	struct trace_state state = state_of(t);

	add_remark(out, n_hidden, "more method", "more methods");
	add_remark(out, n_idle, "method was not called", "methods were not called");
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

static void put_time(struct json *json, const char *key, bool known, uint64_t ns)
{
	if (known)
		json_put_unsigned(json, key, ns);
	else
		json_put_null(json, key);
}

static void add_json(struct buf *out, const struct trace *t, uint32_t method)
{
	const struct trace_sum *sum = &t->methods[method].sum;
	bool called = sum->calls > 0, ranked = called && sum->buckets;
	_cleanup_buf_ struct buf name = BUF_INIT;
	struct json *json = json_object();

	trace_method_name(t, method, &name);
	json_put_text(json, "method", buf_str(&name));
	json_put_unsigned(json, "count", sum->calls);
	json_put_unsigned(json, "errors", sum->threw);
	put_time(json, "min", called, sum->min_ns);
	put_time(json, "mean", called, trace_mean(sum));
	put_time(json, "p50", ranked, trace_quantile(sum, 0.50));
	put_time(json, "p95", ranked, trace_quantile(sum, 0.95));
	put_time(json, "p99", ranked, trace_quantile(sum, 0.99));
	put_time(json, "max", called, sum->max_ns);
	json_put_unsigned(json, "total", sum->ns);
	json_add(out, json);
	buf_addc(out, '\n');
	json_free(json);
}

void trace_summary_add_json(struct buf *out, const struct trace *t)
{
	size_t n, n_idle;
	_cleanup_free_ struct row *rows = find_rows(t, &n, &n_idle);

	for (size_t i = 0; i < n; i++)
		add_json(out, t, rows[i].method);
	for (size_t i = 0; i < t->n; i++) {
		if (t->methods[i].sum.calls == 0 && !t->methods[i].refused)
			add_json(out, t, (uint32_t)i);
	}
}

static size_t widest_line(const struct buf *text)
{
	size_t widest = 0;

	for (const char *at = buf_str(text), *end; *at; at = end + 1) {
		size_t width;

		end = strchr(at, '\n');
		width = text_width(at, (size_t)(end - at));
		if (width > widest)
			widest = width;
	}
	return widest;
}

/* What does not fit is taken from the names, then from the figures. */
static void add_fitting(struct buf *out, const struct trace *t, const struct row *rows, size_t n,
			size_t width)
{
	struct form form = { .widest = NAME_LEAST };
	size_t least;

	add_table(out, t, rows, n, &form);
	while ((least = widest_line(out)) > width && form.n_left_out < ARRAY_SIZE(expendable)) {
		form.n_left_out++;
		buf_reset(out);
		add_table(out, t, rows, n, &form);
	}
	if (least >= width)
		return;
	form.widest += width - least;
	buf_reset(out);
	add_table(out, t, rows, n, &form);
}

/* How many lines the table before takes now: terminals fold what has become too wide for them. */
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
 * The last column stays free, where some terminals wrap at once, and so does the last line, where
 * the cursor is then.
 */
void trace_summary_draw(struct trace_summary *s, struct buf *out, const struct trace *t,
			struct terminal terminal)
{
	_cleanup_buf_ struct buf text = BUF_INIT;
	size_t n, n_idle, lines = 0, most = terminal.rows - 1, width = terminal.columns - 1;
	_cleanup_free_ struct row *rows = find_rows(t, &n, &n_idle);
	size_t others = 2 + (n_idle > 0); /* the heading, and what add_end() adds */
	size_t room = most > others ? most - others : 0;
	size_t shown = n <= room ? n : room > 0 ? room - 1 : 0; /* one line says how many more */

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
