/* jfr view: opens a recording, which is a file or comes from a JVM, and prints a view of it. */
#include "cmd/jfr/jfr_view.h"

#include <string.h>

#include "model/jfr/query/jfr_views.h"

/* Sets rec->from_ns to the end of the recording minus the time of --last, if --last is given. */
static int find_start(struct jfr_recording *rec, struct err *err)
{
	const struct jfr_opts *opts = rec->ctx->opts;
	struct jfr_summary s;
	struct jfr_reader *r;
	int rc;

	if (opts->last_ms == 0)
		return 0;
	r = jfr_recording_reader(rec);
	rc = jfr_summary_read(r, INT64_MIN, &s, err);
	if (rc == 0)
		rec->from_ns = s.end_ns - (int64_t)opts->last_ms * 1000000;
	jfr_summary_release(&s);
	jfr_reader_free(r);
	return rc;
}

static int print_view(struct jfr_recording *rec, const char *view, struct err *err)
{
	const struct jfr_query *query = view ? jfr_view_find(view) : NULL;
	const struct jfr_opts *opts = rec->ctx->opts;

	if (!view)
		return jfr_view_page(rec, err);
	if (strcmp(view, "views") == 0)
		return jfr_view_list(rec, err);
	if (strcmp(view, "summary") == 0)
		return jfr_view_summary(rec, err);
	if (strcmp(view, "events") == 0)
		return jfr_view_events(rec, err);
	if (query && opts->filter)
		return err_set(err, EXIT_USAGE,
			       "--filter needs an event type: %s is a view of several events",
			       view);
	return query ? jfr_view_query(rec, query, err) : jfr_view_type(rec, view, err);
}

int jfr_view(const struct ctx *ctx, const struct jfr_request *req, struct err *err)
{
	const struct jfr_opts *opts = ctx->opts;
	const char *view = ctx->n_args > 1 ? ctx->args[1] : NULL;
	struct jfr_recording rec;
	int rc = jfr_recording_open(&rec, ctx, opts->max_memory, err);

	(void)req;
	if (rc == 0)
		rc = jfr_views_load(err);
	if (rc == 0)
		rc = find_start(&rec, err);
	if (rc == 0)
		rc = print_view(&rec, view, err);
	jfr_recording_close(&rec);
	return jfr_recording_result(&rec, rc, err);
}
