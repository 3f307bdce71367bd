/* stat --openmetrics: prints one document for all JVMs, for a scrape or for node_exporter. */
#include "cli/run_all.h"
#include "base/xalloc.h"
#include "cmd/vm/stat.h"
#include "render/vm/openmetrics.h"

/* The data that the document refers to until it is printed. */
struct collection {
	const struct ctx *ctx;
	struct jvm *const *all;
	struct perfdata *perf; /* of the JVMs with counters; the next array, too */
	struct openmetrics_jvm *jvms;
	size_t n;
	struct run_all_tally tally;
	struct err last; /* of a JVM without counters */
};

/*
 * A JVM without counters, or one that has just exited, is reported and skipped.  The exit status
 * stays 0 if any JVM is in the document: periodic scrapes must not fail because of one JVM.
 */
static void visit(void *arg, size_t i, struct perfdata *perf, const struct err *err)
{
	struct collection *c = arg;
	const struct jvm *jvm = c->all[i];
	struct openmetrics_jvm *m = &c->jvms[c->n];

	if (!perf) {
		c->last = *err;
		if (c->ctx->all)
			run_all_failed(&c->tally, jvm, err);
		return;
	}
	c->perf[c->n] = *perf;
	*perf = (struct perfdata){ .data = NULL }; /* taken */
	*m = (struct openmetrics_jvm){
		.pid = (int)jvm->pid, .main = jvm->main, .container = jvm->container,
		.version = jvm->version, .vm = jvm->vm, .gc = jvm->gc,
		.source = stat_counter_source(&c->perf[c->n]),
	};
	m->uptime = stat_timestamp(&m->source);
	c->n++;
}

static void release(struct collection *c)
{
	for (size_t i = 0; i < c->n; i++)
		perfdata_release(&c->perf[i]);
	free(c->perf);
	free(c->jvms);
}

int stat_metrics(const struct ctx *ctx, struct jvm *const *jvms, size_t n, struct err *err)
{
	struct collection c = {
		.ctx = ctx,
		.all = jvms,
		.perf = xcalloc(n, sizeof(struct perfdata)),
		.jvms = xcalloc(n, sizeof(struct openmetrics_jvm)),
		.tally = { .cmd = ctx->cmd, .n = n },
		.last = { .code = EXIT_DONE },
	};
	int rc = 0;

	hsperf_each(jvms, n, visit, &c);
	verbose_step(ctx->steps, "read the counters of %zu JVMs", c.n);
	if (c.n > 0)
		openmetrics_print(c.jvms, c.n, ctx->out);
	else if (ctx->all)
		rc = run_all_verdict(&c.tally, err);
	else
		rc = err_set(err, c.last.code, "%s", c.last.text);
	release(&c);
	return rc;
}
