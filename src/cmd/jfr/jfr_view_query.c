/* jfr view: prints a named view, which is the result of a query (jfr_views.h). */
#include <string.h>

#include "cmd/jfr/jfr_view.h"
#include "model/jfr/query/jfr_views.h"
#include "render/jfr/jfr_table.h"
#include "render/limit.h"
#include "render/table.h"

static void print_result(struct jfr_recording *rec, const struct jfr_query *view,
			 const struct jfr_query *query, const struct jfr_query_run *run)
{
	const struct jfr_opts *opts = rec->ctx->opts;
	_cleanup_buf_ struct buf text = BUF_INIT;
	size_t n = limit_rows(opts->limit, rec->ctx->json, LIMIT_ROWS, jfr_query_rows(run));

	if (rec->ctx->json) {
		struct json *doc = json_object();

		json_put_text(doc, "view", view->name);
		json_put(doc, "rows", jfr_table_json(query, run, n));
		json_print_take(doc, rec->ctx->out);
		return;
	}
	jfr_table_add(query, run, n, true, &text);
	if (!jfr_query_is_known(run))
		fprintf(rec->ctx->out, "none: no event type of this view is in the recording\n");
	else
		fputs(buf_str(&text), rec->ctx->out);
}

const char *jfr_view_word(size_t i)
{
	static const char *const others[] = { "summary", "events", "views" };
	struct err ignored = { .code = EXIT_DONE };
	const struct jfr_query *view;

	if (i < ARRAY_SIZE(others))
		return others[i];
	if (jfr_views_load(&ignored) < 0)
		return NULL;
	view = jfr_view_at(i - ARRAY_SIZE(others));
	return view ? view->name : NULL;
}

int jfr_view_list(struct jfr_recording *rec, struct err *err)
{
	static const struct column columns[] = {
		{ "VIEW", "view", CELL_TEXT, false },
		{ "TITLE", "title", CELL_TEXT, false },
	};
	struct table *table = table_new(columns, ARRAY_SIZE(columns));
	const struct jfr_query *view;

	(void)err;
	for (size_t i = 0; (view = jfr_view_at(i)); i++) {
		table_row(table);
		table_text(table, 0, view->name);
		table_text(table, 1, view->title);
	}
	if (rec->ctx->json) {
		struct json *doc = json_object();

		json_put_text(doc, "view", "views");
		json_put(doc, "rows", table_json(table));
		json_print_take(doc, rec->ctx->out);
	} else {
		table_print(table, rec->ctx->out);
	}
	table_free(table);
	return 0;
}

int jfr_view_query(struct jfr_recording *rec, const struct jfr_query *view, struct err *err)
{
	struct jfr_queries *queries = jfr_queries_new(rec->max_memory);
	struct jfr_query_run *run = jfr_queries_add(queries, view);
	struct jfr_query_run *instead = view->instead ? jfr_queries_add(queries, view->instead)
						      : NULL;
	struct jfr_reader *r = jfr_recording_reader(rec);
	int rc = jfr_queries_run(queries, r, rec->from_ns, err);

	jfr_recording_done(rec, r);
	if (rc == 0 && instead && jfr_query_rows(run) == 0 && jfr_query_rows(instead) > 0)
		print_result(rec, view, view->instead, instead);
	else if (rc == 0)
		print_result(rec, view, view, run);
	jfr_queries_free(queries);
	return rc;
}
