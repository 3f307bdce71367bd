/*
 * stat --openmetrics: one document of all JVMs, for a scrape or for node_exporter to pick up.
 */

#include "all.h"
#include "base/xalloc.h"
#include "cmd/stat.h"
#include "render/openmetrics.h"

/* What must last until the document is printed. */
struct collection {
	struct perfdata *perf;
	struct openmetrics_jvm *jvms;
	size_t n;
};

static int collect_one(struct collection *c, const struct jvm *jvm, struct err *err)
{
	struct openmetrics_jvm *m = &c->jvms[c->n];
	struct perfdata *perf = &c->perf[c->n];

	if (counters_read_once(jvm, perf, err) < 0)
		return -1;
	*m = (struct openmetrics_jvm){
		.pid = (int)jvm->pid, .main = jvm->main, .container = jvm->container,
		.version = jvm->version, .vm = jvm->vm, .gc = jvm->gc,
		.readings = stat_readings(perf),
	};
	m->uptime = stat_timestamp(&m->readings);
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
 * A JVM that publishes nothing, or has just ended, is told and left out.  That is no failure: the
 * document has what there is to be had, and is made again and again where nobody looks on.
 */
static void collect_all(const struct ctx *ctx, struct collection *c, struct jvm *const *jvms,
			size_t n, struct all_tally *tally)
{
	for (size_t i = 0; i < n; i++) {
		struct err one = { .code = EXIT_DONE };

		if (collect_one(c, jvms[i], &one) < 0)
			all_failed(tally, jvms[i], &one);
	}
	steps_add(ctx->steps, "read the counters of %zu JVMs", c->n);
}

int stat_metrics(const struct ctx *ctx, struct jvm *const *jvms, size_t n, struct err *err)
{
	struct collection c = {
		.perf = xcalloc(n, sizeof(struct perfdata)),
		.jvms = xcalloc(n, sizeof(struct openmetrics_jvm)),
	};
	struct all_tally tally = { .cmd = ctx->cmd, .n = n };
	int rc = 0;

	if (ctx->all)
		collect_all(ctx, &c, jvms, n, &tally);
	else
		rc = collect_one(&c, jvms[0], err);
	if (c.n > 0)
		openmetrics_print(c.jvms, c.n, ctx->out);
	else if (ctx->all)
		rc = all_verdict(&tally, err);
	release(&c);
	return rc;
}
