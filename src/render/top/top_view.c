#include "render/top/top_view.h"

#include <inttypes.h>
#include <string.h>

#include "base/printable.h"
#include "render/limit.h"
#include "render/units.h"

#define TEXT_WIDTH 100  /* maximum width of the head if the output is not for a terminal */
#define NAME_WIDTH 12   /* cells that the name needs; other columns are omitted to make room */
#define GAP 3           /* spaces between the parts of the head */
#define ORDER_MAX 8     /* highest `order` of a column */

/* The line of the head to which parts are being added. */
struct flow {
	struct buf *out;
	size_t width, used;
};

/* Adds a part to the line; if the line has no room for the part, begins a new line first. */
static void flow_add(struct flow *f, struct buf *part)
{
	size_t width = printable_width(buf_str(part), part->len);

	if (f->used > 0 && f->used + GAP + width > f->width) {
		buf_addc(f->out, '\n');
		f->used = 0;
	}
	buf_addf(f->out, "%*s%s", f->used > 0 ? GAP : 0, "", buf_str(part));
	f->used += (f->used > 0 ? GAP : 0) + width;
	buf_reset(part);
}

static void flow_end(struct flow *f)
{
	if (f->used > 0)
		buf_addc(f->out, '\n');
	f->used = 0;
}

static void add_percent(struct buf *out, double percent)
{
	if (percent < 0)
		buf_adds(out, "-");
	else
		buf_addf(out, "%.1f", percent);
}

static void add_bytes(struct buf *out, int64_t bytes)
{
	if (bytes < 0)
		buf_adds(out, "-");
	else
		units_bytes(out, bytes);
}

static void add_share(struct flow *f, struct buf *part, const char *what, double percent)
{
	buf_addf(part, "%s ", what);
	add_percent(part, percent);
	buf_adds(part, percent < 0 ? "" : " %");
	flow_add(f, part);
}

static void add_cpu(struct flow *f, struct buf *part, const struct top_jvm *jvm)
{
	buf_adds(part, "CPU ");
	add_percent(part, jvm->rates.cpu_percent);
	if (jvm->rates.cpu_percent >= 0)
		buf_adds(part, " %");
	if (jvm->cpu_limit >= 0)
		buf_addf(part, " of %g", jvm->cpu_limit * 100);
	flow_add(f, part);
	if (jvm->rates.throttled_percent >= 0)
		add_share(f, part, "throttled", jvm->rates.throttled_percent);
}

static void add_of(struct buf *part, int64_t most)
{
	if (most < 0)
		return;
	buf_adds(part, " of ");
	units_bytes(part, most);
}

static void add_memory(struct flow *f, struct buf *part, const struct top_jvm *jvm)
{
	buf_adds(part, "heap ");
	add_bytes(part, jvm->rates.heap_used);
	add_of(part, jvm->heap_max);
	flow_add(f, part);
	buf_adds(part, "after collection ");
	add_bytes(part, jvm->rates.heap_after);
	flow_add(f, part);
	buf_adds(part, "allocation ");
	if (jvm->rates.allocation >= 0) {
		units_bytes(part, (int64_t)jvm->rates.allocation);
		buf_adds(part, "/s");
	} else {
		buf_adds(part, "-");
	}
	flow_add(f, part);
	buf_adds(part, "RSS ");
	add_bytes(part, jvm->resident);
	add_of(part, jvm->memory_limit);
	flow_add(f, part);
}

static void add_jvm_head(struct flow *f, struct buf *part, const struct top_jvm *jvm)
{
	buf_addf(part, "JVM %d", jvm->pid);
	if (jvm->main) {
		buf_addc(part, ' ');
		printable_add(part, jvm->main, strlen(jvm->main));
	}
	flow_add(f, part);
	if (jvm->version) {
		printable_add(part, jvm->version, strlen(jvm->version));
		flow_add(f, part);
	}
	if (jvm->gc) {
		printable_add(part, jvm->gc, strlen(jvm->gc));
		flow_add(f, part);
	}
	if (jvm->uptime >= 0) {
		buf_adds(part, "up ");
		units_seconds(part, (int64_t)jvm->uptime);
		flow_add(f, part);
	}
	buf_addf(part, "%u threads", jvm->threads);
	flow_add(f, part);
	flow_end(f);
	add_cpu(f, part, jvm);
	add_share(f, part, "GC", jvm->rates.gc_percent);
	add_share(f, part, "safepoints", jvm->rates.safepoint_percent);
	flow_end(f);
	add_memory(f, part, jvm);
	flow_end(f);
}

static void add_jvms_head(struct flow *f, struct buf *part, const struct top_view *v)
{
	double cpu = 0;
	int64_t resident = 0;

	for (size_t i = 0; i < v->n_jvms; i++) {
		cpu += v->jvms[i].rates.cpu_percent > 0 ? v->jvms[i].rates.cpu_percent : 0;
		resident += v->jvms[i].resident > 0 ? v->jvms[i].resident : 0;
	}
	buf_addf(part, "%zu JVM%s", v->n_jvms, v->n_jvms == 1 ? "" : "s");
	flow_add(f, part);
	add_share(f, part, "CPU", v->seconds > 0 ? cpu : -1);
	buf_adds(part, "RSS ");
	units_bytes(part, resident);
	flow_add(f, part);
	flow_end(f);
}

void top_view_head(const struct top_view *v, size_t width, struct buf *out)
{
	struct flow f = { .out = out, .width = width };
	_cleanup_buf_ struct buf part = BUF_INIT;

	if (v->jvm)
		add_jvm_head(&f, &part, v->jvm);
	else
		add_jvms_head(&f, &part, v);
}

/* A column other than the name, which is the last column. */
struct top_column {
	const char *heading;
	size_t width;
	bool left;      /* the column is aligned left */
	/* if there is no room for all columns: 1 is omitted first, then 2, …; 0: never omitted */
	unsigned order;
	void (*add)(const struct top_view *v, size_t row, struct buf *out);
};

static const struct top_thread *thread_of(const struct top_view *v, size_t row)
{
	return &v->threads->list[v->rows[row]];
}

static const struct top_jvm *jvm_of(const struct top_view *v, size_t row)
{
	return &v->jvms[v->rows[row]];
}

static void add_thread_cpu(const struct top_view *v, size_t row, struct buf *out)
{
	add_percent(out, thread_of(v, row)->cpu_percent);
}

static void add_thread_time(const struct top_view *v, size_t row, struct buf *out)
{
	units_nanos(out, (uint64_t)(thread_of(v, row)->cpu_s * 1e9 + 0.5));
}

static void add_tid(const struct top_view *v, size_t row, struct buf *out)
{
	buf_addf(out, "%" PRId64, thread_of(v, row)->tid);
}

static void add_state(const struct top_view *v, size_t row, struct buf *out)
{
	buf_adds(out, top_thread_state(thread_of(v, row)));
}

static void add_pid(const struct top_view *v, size_t row, struct buf *out)
{
	buf_addf(out, "%d", jvm_of(v, row)->pid);
}

static void add_jvm_cpu(const struct top_view *v, size_t row, struct buf *out)
{
	add_percent(out, jvm_of(v, row)->rates.cpu_percent);
}

static void add_jvm_limit(const struct top_view *v, size_t row, struct buf *out)
{
	double limit = jvm_of(v, row)->cpu_limit;

	if (limit < 0)
		buf_adds(out, "-");
	else
		buf_addf(out, "%.4g", limit * 100);
}

static void add_throttled(const struct top_view *v, size_t row, struct buf *out)
{
	add_percent(out, jvm_of(v, row)->rates.throttled_percent);
}

static void add_resident(const struct top_view *v, size_t row, struct buf *out)
{
	add_bytes(out, jvm_of(v, row)->resident);
}

static void add_heap(const struct top_view *v, size_t row, struct buf *out)
{
	add_bytes(out, jvm_of(v, row)->rates.heap_used);
}

static void add_after(const struct top_view *v, size_t row, struct buf *out)
{
	add_bytes(out, jvm_of(v, row)->rates.heap_after);
}

static void add_gc(const struct top_view *v, size_t row, struct buf *out)
{
	add_percent(out, jvm_of(v, row)->rates.gc_percent);
}

static void add_safepoints(const struct top_view *v, size_t row, struct buf *out)
{
	add_percent(out, jvm_of(v, row)->rates.safepoint_percent);
}

static void add_allocation(const struct top_view *v, size_t row, struct buf *out)
{
	double rate = jvm_of(v, row)->rates.allocation;

	add_bytes(out, rate < 0 ? -1 : (int64_t)rate);
}

/* clang-format off */
static const struct top_column thread_columns[] = {
	{ "CPU%",  6, false, 0, add_thread_cpu },
	{ "TIME",  7, false, 2, add_thread_time },
	{ "TID",   7, false, 1, add_tid },
	{ "STATE", 8, true,  3, add_state },
	{ NULL, 0, false, 0, NULL },
};

static const struct top_column jvm_columns[] = {
	{ "PID",     7, false, 0, add_pid },
	{ "CPU%",    6, false, 8, add_jvm_cpu },
	{ "LIMIT",   5, false, 4, add_jvm_limit },
	{ "THROT%",  6, false, 2, add_throttled },
	{ "GC%",     5, false, 7, add_gc },
	{ "SAFE%",   5, false, 1, add_safepoints },
	{ "HEAP",    8, false, 6, add_heap },
	{ "AFTER",   8, false, 5, add_after },
	{ "ALLOC/S", 8, false, 3, add_allocation },
	{ "RSS",     8, false, 6, add_resident },
	{ NULL, 0, false, 0, NULL },
};
/* clang-format on */

static const struct top_column *columns_of(const struct top_view *v)
{
	return v->jvm ? thread_columns : jvm_columns;
}

static bool is_omitted(const struct top_column *c, unsigned first)
{
	return c->order > 0 && c->order < first;
}

/*
 * Returns the lowest order of the columns that are shown if the line has `width` cells.  Columns
 * with a lower order are omitted, except those with order 0.
 */
static unsigned first_order(const struct top_column *columns, size_t width)
{
	unsigned first = 0;
	size_t sum;

	do {
		sum = NAME_WIDTH;
		first++;
		for (const struct top_column *c = columns; c->heading; c++)
			sum += is_omitted(c, first) ? 0 : c->width + 1;
	} while (sum > width && first <= ORDER_MAX);
	return first;
}

static void add_cell(const struct top_column *c, struct buf *cell, struct buf *line)
{
	int width = (int)c->width;

	buf_addf(line, c->left ? "%-*s " : "%*s ", width, buf_str(cell));
	buf_reset(cell);
}

void top_view_heading(const struct top_view *v, size_t width, struct buf *out)
{
	unsigned first = first_order(columns_of(v), width);
	_cleanup_buf_ struct buf cell = BUF_INIT;

	for (const struct top_column *c = columns_of(v); c->heading; c++) {
		if (is_omitted(c, first))
			continue;
		buf_adds(&cell, c->heading);
		add_cell(c, &cell, out);
	}
	buf_adds(out, v->jvm ? "NAME" : "MAIN");
}

void top_view_row(const struct top_view *v, size_t i, size_t width, struct buf *out)
{
	unsigned first = first_order(columns_of(v), width);
	const char *name = v->jvm ? top_thread_name(thread_of(v, i)) : jvm_of(v, i)->main;
	_cleanup_buf_ struct buf cell = BUF_INIT;

	for (const struct top_column *c = columns_of(v); c->heading; c++) {
		if (is_omitted(c, first))
			continue;
		c->add(v, i, &cell);
		add_cell(c, &cell, out);
	}
	if (name)
		printable_add(out, name, strlen(name));
	else
		buf_addc(out, '-');
}

void top_view_print(const struct top_view *v, FILE *out)
{
	size_t n = limit_rows(v->limit, false, LIMIT_ROWS, v->n);
	_cleanup_buf_ struct buf text = BUF_INIT;

	top_view_head(v, TEXT_WIDTH, &text);
	top_view_heading(v, SIZE_MAX, &text);
	buf_addc(&text, '\n');
	for (size_t i = 0; i < n; i++) {
		top_view_row(v, i, SIZE_MAX, &text);
		buf_addc(&text, '\n');
	}
	limit_add_more(&text, v->n - n, v->jvm ? "thread" : "JVM", v->jvm ? "threads" : "JVMs");
	buf_addc(&text, '\n');
	fputs(buf_str(&text), out);
}
