/* stat --openmetrics: prints one document about all JVMs, for scraping or for node_exporter. */
#include "cli/run_all.h"
#include "cmd/vm/metrics_document.h"
#include "cmd/vm/stat.h"

struct skipped {
	const struct ctx *ctx;
	struct run_all_tally tally;
	struct err last; /* error of the last JVM without counters */
};

static void skip(void *arg, const struct jvm *jvm, const struct err *err)
{
	struct skipped *s = arg;

	s->last = *err;
	if (s->ctx->all)
		run_all_failed(&s->tally, jvm, err);
}

/*
 * A JVM that has no counters, or has just exited, is reported and skipped.  The exit status is 0 if
 * at least one JVM is in the document: one skipped JVM must not make a periodic scrape fail.
 */
int stat_metrics(const struct ctx *ctx, struct jvm *const *jvms, size_t n, struct err *err)
{
	struct skipped skipped = {
		.ctx = ctx,
		.tally = { .cmd = ctx->cmd, .n = n },
		.last = { .code = EXIT_DONE },
	};
	struct metrics_document doc;
	int rc = 0;

	metrics_document_read(&doc, jvms, n, skip, &skipped);
	verbose_step(ctx->steps, "read the counters of %zu JVMs", doc.n);
	if (doc.n > 0)
		openmetrics_print(doc.jvms, doc.n, NULL, ctx->out);
	else if (ctx->all)
		rc = run_all_verdict(&skipped.tally, err);
	else
		rc = err_set(err, skipped.last.code, "%s", skipped.last.text);
	metrics_document_release(&doc);
	return rc;
}
