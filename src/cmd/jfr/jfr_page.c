/* `jtool jfr view` without the argument VIEW: prints an overview of the recording on one page. */
#include <inttypes.h>
#include <string.h>

#include "cmd/jfr/jfr_view.h"
#include "model/jfr/query/jfr_views.h"
#include "render/jfr/jfr_event_json.h"
#include "render/jfr/jfr_table.h"
#include "render/units.h"

#define TOP 5 /* maximum number of rows in each table of the page */

/* A query for events by which JFR reports that it has lost data. */
static const struct jfr_query lost = {
	.name = "lost",
	.title = "Lost by the recorder",
	.is_form = true,
	JFR_SOURCES(
		{ "jdk.DataLoss", 'D', NULL, NULL },
		{ "jdk.CPUTimeSamplesLost", 'C', NULL, NULL }
	),
	JFR_COLUMNS(
		{ "times", "D:*", JFR_COUNT_OF, false },
		{ "bytes", "D:amount", JFR_SUM_OF, false },
		{ "cpu_time_samples", "C:lostSamples", JFR_SUM_OF, false }
	),
};

static const char *const sections[] = {
	"jvm-information", "system-information", "cpu-load",	 "hot-methods",
	"cpu-time-hot-methods", "gc-pauses",	 "allocation-by-class", "allocation-by-site",
	"exception-by-type", "contention-by-class", "pinned-threads",
};

struct section {
	const struct jfr_query *query, *instead;
	const struct jfr_query_run *run, *other;
};

struct page {
	struct jfr_queries *queries;
	struct section sections[ARRAY_SIZE(sections) + 1];
	size_t n;
};

static void add_section(struct page *page, const struct jfr_query *query)
{
	struct section *s = &page->sections[page->n++];

	s->query = query;
	s->run = jfr_queries_add(page->queries, query);
	s->instead = query->instead;
	s->other = s->instead ? jfr_queries_add(page->queries, s->instead) : NULL;
}

/*
 * If the section's query has no rows, but query->instead has rows, shows query->instead in the
 * section.  query->instead reads other event types.
 */
static void choose(struct section *s)
{
	if (s->other && jfr_query_rows(s->run) == 0 && jfr_query_rows(s->other) > 0) {
		s->query = s->instead;
		s->run = s->other;
	}
}

static size_t rows_of(const struct ctx *ctx, const struct section *s)
{
	size_t n = jfr_query_rows(s->run);

	return !ctx->json && n > TOP ? TOP : n;
}

static void print_extent(const struct ctx *ctx, const struct jfr_extent *x)
{
	_cleanup_buf_ struct buf start = BUF_INIT, length = BUF_INIT, count = BUF_INIT;

	jfr_time_add(&start, x->start_ns);
	units_nanos(&length, x->duration_ns > 0 ? (uint64_t)x->duration_ns : 0);
	units_count(&count, x->events);
	fprintf(ctx->out, "Recording\nstart:    %s\nduration: %s\nevents:   %s in %u %s\n",
		buf_str(&start), buf_str(&length), buf_str(&count), x->chunks,
		x->chunks == 1 ? "chunk" : "chunks");
}

static void print_text(const struct ctx *ctx, const struct page *page)
{
	print_extent(ctx, jfr_queries_extent(page->queries));
	for (size_t i = 0; i < page->n; i++) {
		const struct section *s = &page->sections[i];
		_cleanup_buf_ struct buf text = BUF_INIT;
		size_t n = jfr_query_rows(s->run);

		if (n == 0 || jfr_query_events(s->run) == 0)
			continue;
		jfr_table_add(s->query, s->run, n > TOP ? TOP : n, false, &text);
		fprintf(ctx->out, "\n%s", s->query->title);
		if (n > TOP)
			fprintf(ctx->out, " (%d of %zu: jtool jfr view ... %s)", TOP, n,
				s->query->name);
		fprintf(ctx->out, "\n%s", buf_str(&text));
	}
}

static void print_json(const struct ctx *ctx, const struct page *page)
{
	const struct jfr_extent *x = jfr_queries_extent(page->queries);
	struct json *doc = json_object(), *array = json_array();
	_cleanup_buf_ struct buf start = BUF_INIT;

	json_put_text(doc, "view", "overview");
	jfr_time_add(&start, x->start_ns);
	json_put_text(doc, "start", buf_str(&start));
	json_put_real(doc, "duration", (double)x->duration_ns / 1e9);
	json_put_unsigned(doc, "events", x->events);
	for (size_t i = 0; i < page->n; i++) {
		const struct section *s = &page->sections[i];
		struct json *object = json_object();

		json_put_text(object, "view", s->query->name);
		json_put(object, "rows", jfr_table_json(s->query, s->run, rows_of(ctx, s)));
		json_put(array, NULL, object);
	}
	json_put(doc, "rows", array);
	json_print_take(doc, ctx->out);
}

int jfr_view_page(struct jfr_recording *rec, struct err *err)
{
	struct page page = { .queries = jfr_queries_new(rec->max_memory) };
	struct jfr_reader *r = jfr_recording_reader(rec);
	int rc;

	for (size_t i = 0; i < ARRAY_SIZE(sections); i++)
		add_section(&page, jfr_view_find(sections[i]));
	add_section(&page, &lost);
	rc = jfr_queries_run(page.queries, r, rec->from_ns, err);
	jfr_recording_done(rec, r);
	for (size_t i = 0; rc == 0 && i < page.n; i++)
		choose(&page.sections[i]);
	if (rc == 0 && rec->ctx->json)
		print_json(rec->ctx, &page);
	else if (rc == 0)
		print_text(rec->ctx, &page);
	jfr_queries_free(page.queries);
	return rc;
}
