/* stat --openmetrics: prints one document for all JVMs, for a scrape or for node_exporter. */
#include "cli/run_all.h"
#include "base/xalloc.h"
#include "cmd/vm/stat.h"
#include "render/vm/openmetrics.h"

/* The data that the document refers to until it is printed. */
struct collection {
	struct perfdata *perf;
	struct openmetrics_jvm *jvms;
	size_t n;
};

static int collect_one(struct collection *c, const struct jvm *jvm, struct err *err)
{
	struct openmetrics_jvm *m = &c->jvms[c->n];
	struct perfdata *perf = &c->perf[c->n];

	if (hsperf_read_once(jvm, perf, err) < 0)
		return -1;
	*m = (struct openmetrics_jvm){
		.pid = (int)jvm->pid, .main = jvm->main, .container = jvm->container,
		.version = jvm->version, .vm = jvm->vm, .gc = jvm->gc,
		.source = stat_counter_source(perf),
	};
	m->uptime = stat_timestamp(&m->source);
	c->n++;
	return 0;
}

static void release(struct collection *c)
{
	for (size_t i = 0; i < c->n; i++)
		perfdata_release(&c->perf[i]);
	free(c->perf);
	free(c->jvms);
}

/*
 * A JVM without counters, or one that has just exited, is reported and skipped.  The exit status
 * stays 0 if any JVM is in the document: periodic scrapes must not fail because of one JVM.
 */
static void collect_all(const struct ctx *ctx, struct collection *c, struct jvm *const *jvms,
			size_t n, struct run_all_tally *tally)
{
	for (size_t i = 0; i < n; i++) {
		struct err one = { .code = EXIT_DONE };

		if (collect_one(c, jvms[i], &one) < 0)
			run_all_failed(tally, jvms[i], &one);
	}
	verbose_step(ctx->steps, "read the counters of %zu JVMs", c->n);
}

int stat_metrics(const struct ctx *ctx, struct jvm *const *jvms, size_t n, struct err *err)
{
	struct collection c = {
		.perf = xcalloc(n, sizeof(struct perfdata)),
		.jvms = xcalloc(n, sizeof(struct openmetrics_jvm)),
	};
	struct run_all_tally tally = { .cmd = ctx->cmd, .n = n };
	int rc = 0;

	if (ctx->all)
		collect_all(ctx, &c, jvms, n, &tally);
	else
		rc = collect_one(&c, jvms[0], err);
	if (c.n > 0)
		openmetrics_print(c.jvms, c.n, ctx->out);
	else if (ctx->all)
		rc = run_all_verdict(&tally, err);
	release(&c);
	return rc;
}
