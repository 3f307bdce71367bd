/* jfr view: prints the events of one type as rows, or the number of events of each type. */
#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "base/printable.h"
#include "base/xalloc.h"
#include "cmd/jfr/jfr_view.h"
#include "render/jfr/jfr_event_json.h"
#include "render/limit.h"
#include "render/table.h"

#define SECOND INT64_C(1000000000)
#define FLUSH_BYTES (1u << 20)
#define LEVEL_NAME "jdk."

/* The rows of an event type.  JSON is printed while the recording is read, a table after that. */
struct rows {
	struct jfr_recording *rec;
	const char *name; /* name of the type, as the caller gave it */
	char *full; /* full name of the type, such as "jdk.GCPhasePause"; NULL: not seen yet */
	const struct jfr_type *type; /* the type in the current chunk */
	struct jfr_filter *filter;
	struct table *table;
	char **headings; /* n_columns printable names of fields, to which `table` has pointers */
	size_t n_columns;
	struct buf json; /* the part of the JSON document that is not written to stdout yet */
	bool began; /* a part of the JSON document was written to stdout */
	uint64_t n, n_most;
	struct err *err;
	int rc;
};

static bool names_type(const char *word, const char *name)
{
	size_t len = strlen(LEVEL_NAME);

	return strcasecmp(word, name) == 0 ||
	       (strncmp(name, LEVEL_NAME, len) == 0 && strcasecmp(word, name + len) == 0);
}

static void begin_table(struct rows *rows, const struct jfr_type *type)
{
	size_t n = type->n_fields;
	_cleanup_free_ struct column *columns = xcalloc(n, sizeof(*columns));

	rows->headings = xcalloc(n, sizeof(*rows->headings));
	for (size_t i = 0; i < n; i++) {
		rows->headings[i] = printable_add_str(type->fields[i].name);
		columns[i] = (struct column){ rows->headings[i], NULL, CELL_TEXT, false };
	}
	rows->table = table_new(columns, n);
	rows->n_columns = n;
}

static void begin_rows(void *arg, const struct jfr_chunk *chunk)
{
	struct rows *rows = arg;

	rows->type = NULL;
	for (size_t i = 0; i < chunk->metadata.n && !rows->type; i++) {
		const struct jfr_type *type = &chunk->metadata.types[i];

		if (type->is_event && names_type(rows->name, type->name))
			rows->type = type;
	}
	for (size_t i = 0; i < chunk->metadata.n; i++)
		chunk->metadata.types[i].is_skipped = &chunk->metadata.types[i] != rows->type;
	if (!rows->type)
		return;
	if (!rows->full)
		rows->full = xstrdup(rows->type->name);
	if (rows->filter && jfr_filter_bind(rows->filter, rows->type, rows->err) < 0)
		rows->rc = -1;
	if (!rows->rec->ctx->json && !rows->table)
		begin_table(rows, rows->type);
}

static void add_row(struct rows *rows, const struct jfr_event *e)
{
	struct jfr_cursor c = e->fields;

	table_row(rows->table);
	for (size_t i = 0; i < e->type->n_fields && i < rows->n_columns; i++) {
		_cleanup_buf_ struct buf text = BUF_INIT;
		struct jfr_datum d;

		jfr_read(e->chunk, &e->type->fields[i], false, &c, &d);
		jfr_datum_show(e->chunk, &d, &text);
		table_text(rows->table, i, buf_str(&text));
	}
}

static void flush_json(struct rows *rows, size_t least)
{
	if (rows->json.len < least)
		return;
	(void)fwrite(rows->json.data, 1, rows->json.len, rows->rec->ctx->out);
	buf_reset(&rows->json);
	rows->began = true;
}

static void begin_json(struct rows *rows)
{
	struct json *name = json_object();

	json_put_text(name, "view", rows->full);
	json_add_document(&rows->json, name);
	rows->json.len--; /* removes the closing brace */
	buf_adds(&rows->json, ",\"rows\":[");
	json_free(name);
}

static void end_json(struct rows *rows)
{
	buf_adds(&rows->json, "]}\n");
	flush_json(rows, 0);
}

static void add_json(struct rows *rows, const struct jfr_event *e)
{
	struct json *object = json_object();

	if (rows->n == 0)
		begin_json(rows);
	else
		buf_addc(&rows->json, ',');
	jfr_event_put(e, object);
	json_add(&rows->json, object);
	json_free(object);
	flush_json(rows, FLUSH_BYTES);
}

static int take_event(void *arg, const struct jfr_event *e, struct err *err)
{
	struct rows *rows = arg;

	(void)err;
	if (rows->rc < 0)
		return -1;
	if (e->type != rows->type || (rows->filter && !jfr_filter_accepts(rows->filter, e)))
		return 0;
	if (rows->n < rows->n_most) {
		if (rows->table)
			add_row(rows, e);
		else
			add_json(rows, e);
	}
	rows->n++;
	return 0;
}

static int no_such_type(const struct rows *rows, struct err *err)
{
	return err_set(err, EXIT_USAGE,
		       "unknown view '%s': it is neither a view nor an event type of this "
		       "recording; jtool jfr view FILE events lists its types", rows->name);
}

static void print_rows(struct rows *rows)
{
	const struct ctx *ctx = rows->rec->ctx;
	_cleanup_buf_ struct buf text = BUF_INIT;

	if (ctx->json) {
		if (rows->n == 0)
			begin_json(rows);
		end_json(rows);
		return;
	}
	if (rows->n == 0) {
		fprintf(ctx->out, "no %s events\n", rows->full);
		return;
	}
	table_print(rows->table, ctx->out);
	if (rows->n > rows->n_most)
		limit_add_more(&text, (size_t)(rows->n - rows->n_most), "event", "events");
	fputs(buf_str(&text), ctx->out);
}

int jfr_view_type(struct jfr_recording *rec, const char *name, struct err *err)
{
	const struct jfr_opts *opts = rec->ctx->opts;
	struct rows rows = { .rec = rec, .name = name, .json = BUF_INIT, .err = err };
	const struct jfr_consumer c = {
		.arg = &rows, .begin = begin_rows, .event = take_event, .from_ns = rec->from_ns,
	};
	struct jfr_reader *r;
	int rc = 0;

	rows.n_most = limit_rows(opts->limit, rec->ctx->json, LIMIT_ROWS, SIZE_MAX);
	if (opts->filter) {
		rows.filter = jfr_filter_parse(opts->filter, err);
		rc = rows.filter ? 0 : -1;
	}
	if (rc == 0) {
		r = jfr_recording_reader(rec);
		rc = jfr_scan(r, &c, err) < 0 || rows.rc < 0 ? -1 : 0;
		jfr_recording_done(rec, r);
	}
	if (rc == 0 && !rows.full)
		rc = no_such_type(&rows, err);
	if (rc == 0)
		print_rows(&rows);
	else if (rows.began)
		end_json(&rows); /* after an error, the document has the rows before the error */
	table_free(rows.table);
	for (size_t i = 0; i < rows.n_columns; i++)
		free(rows.headings[i]);
	free(rows.headings);
	jfr_filter_free(rows.filter);
	buf_release(&rows.json);
	free(rows.full);
	return rc;
}

static void print_json(const struct ctx *ctx, const char *view, const struct jfr_summary *s,
		       bool empty_too)
{
	struct json *doc = json_object(), *array = json_array();
	_cleanup_buf_ struct buf start = BUF_INIT;

	json_put_text(doc, "view", view);
	jfr_time_add(&start, s->start_ns);
	json_put_text(doc, "start", buf_str(&start));
	json_put_real(doc, "duration", (double)s->duration_ns / 1e9);
	json_put_number(doc, "chunks", s->chunks);
	for (size_t i = 0; i < s->n; i++) {
		struct json *row = json_object();

		if (s->types[i].count == 0 && !empty_too) {
			json_free(row);
			continue;
		}
		json_put_text(row, "event", s->types[i].name);
		json_put_text(row, "label", s->types[i].label);
		json_put_unsigned(row, "count", s->types[i].count);
		json_put_unsigned(row, "bytes", s->types[i].bytes);
		json_put(array, NULL, row);
	}
	json_put(doc, "rows", array);
	json_print_take(doc, ctx->out);
}

static int read_summary(struct jfr_recording *rec, struct jfr_summary *s, struct err *err)
{
	struct jfr_reader *r = jfr_recording_reader(rec);
	int rc = jfr_summary_read(r, rec->from_ns, s, err);

	jfr_recording_done(rec, r);
	return rc;
}

/* Prints the version, the start and the event types in the format of the JDK's `jfr summary`. */
static void print_summary(const struct ctx *ctx, const struct jfr_summary *s)
{
	static const char title[] = " Event Type", heading[] = "      Count  Size (bytes) ";
	size_t width = strlen(title);
	time_t start = s->start_ns / SECOND;
	char time[32] = "";
	struct tm tm;

	for (size_t i = 0; i < s->n; i++) {
		_cleanup_free_ char *name = printable_add_str(s->types[i].name);
		size_t len = strlen(name);

		width = len > width ? len : width;
	}
	if (gmtime_r(&start, &tm))
		(void)strftime(time, sizeof(time), "%Y-%m-%d %H:%M:%S", &tm);
	fprintf(ctx->out, "\n Version: %u.%u\n Chunks: %u\n Start: %s (UTC)\n Duration: %" PRId64
		" s\n\n", s->major, s->minor, s->chunks, time,
		(s->duration_ns + SECOND / 2) / SECOND);
	fprintf(ctx->out, "%-*s%s\n", (int)width, title, heading);
	for (size_t i = 0; i < width + strlen(heading); i++)
		fputc('=', ctx->out);
	fputc('\n', ctx->out);
	for (size_t i = 0; i < s->n; i++) {
		_cleanup_free_ char *name = printable_add_str(s->types[i].name);

		fprintf(ctx->out, " %-*s%10" PRIu64 "  %12" PRIu64 "\n", (int)width, name,
			s->types[i].count, s->types[i].bytes);
	}
}

int jfr_view_summary(struct jfr_recording *rec, struct err *err)
{
	struct jfr_summary s;
	int rc = read_summary(rec, &s, err);

	if (rc == 0 && rec->ctx->json)
		print_json(rec->ctx, "summary", &s, true);
	else if (rc == 0)
		print_summary(rec->ctx, &s);
	jfr_summary_release(&s);
	return rc;
}

static void print_events(const struct ctx *ctx, const struct jfr_summary *s)
{
	static const struct column columns[] = {
		{ "EVENT", "event", CELL_TEXT, false },
		{ "COUNT", "count", CELL_COUNT, false },
		{ "SIZE", "bytes", CELL_BYTES, false },
	};
	struct table *table = table_new(columns, ARRAY_SIZE(columns));

	for (size_t i = 0; i < s->n; i++) {
		if (s->types[i].count == 0)
			continue;
		table_row(table);
		table_text(table, 0, s->types[i].name);
		table_unsigned(table, 1, s->types[i].count);
		table_unsigned(table, 2, s->types[i].bytes);
	}
	table_print(table, ctx->out);
	table_free(table);
}

int jfr_view_events(struct jfr_recording *rec, struct err *err)
{
	struct jfr_summary s;
	int rc = read_summary(rec, &s, err);

	if (rc == 0 && rec->ctx->json)
		print_json(rec->ctx, "events", &s, false);
	else if (rc == 0)
		print_events(rec->ctx, &s);
	jfr_summary_release(&s);
	return rc;
}
