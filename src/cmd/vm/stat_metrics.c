/* stat --openmetrics: prints one document about all JVMs, for scraping or for node_exporter. */
#include <math.h>
#include <string.h>

#include "base/xalloc.h"
#include "cli/run_all.h"
#include "cmd/vm/stat.h"
#include "discover/cgroup.h"
#include "model/vm/metrics.h"
#include "render/vm/openmetrics.h"

/* The counters of a JVM, and its memory as the kernel reports it.  NAN: unknown. */
struct source {
	struct perfdata perf;
	double resident, swapped, limit; /* bytes */
};

static double number(const void *of, const char *name)
{
	const struct source *s = of;
	const struct counter_source counters = stat_counter_source(&s->perf);

	if (strcmp(name, METRIC_RESIDENT) == 0)
		return s->resident;
	if (strcmp(name, METRIC_SWAPPED) == 0)
		return s->swapped;
	return strcmp(name, METRIC_LIMIT) == 0 ? s->limit : counter_number(&counters, name);
}

static const char *text(const void *of, const char *name)
{
	return perfdata_text(&((const struct source *)of)->perf, name);
}

static double known(int64_t bytes)
{
	return bytes >= 0 ? (double)bytes : (double)NAN;
}

static void read_memory(struct source *s, pid_t pid)
{
	struct proc_usage usage;
	struct procfs proc;

	s->resident = s->swapped = s->limit = (double)NAN;
	if (procfs_open(&proc, "/proc") < 0)
		return;
	if (procfs_usage(&proc, pid, &usage) == 0) {
		s->resident = known(usage.resident);
		s->swapped = known(usage.swapped);
	}
	s->limit = known(cgroup_lowest_limit(&proc, pid));
	procfs_close(&proc);
}

/* The data to which the document refers until it is printed. */
struct collection {
	const struct ctx *ctx;
	struct jvm *const *all;
	struct source *sources; /* one for each JVM that has counters, as in the next array */
	struct openmetrics_jvm *jvms;
	size_t n;
	struct run_all_tally tally;
	struct err last; /* error of the last JVM without counters */
};

/*
 * Receives the counters of a JVM.  If the JVM has none, or has just exited, it is reported and
 * skipped.  The exit code is 0 if at least one JVM is in the document, so that periodic scrapes do
 * not fail because of one JVM.
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
	c->sources[c->n].perf = *perf;
	*perf = (struct perfdata){ .data = NULL }; /* the values are moved to the source */
	read_memory(&c->sources[c->n], jvm->pid);
	*m = (struct openmetrics_jvm){
		.pid = (int)jvm->pid, .main = jvm->main, .container = jvm->container,
		.version = jvm->version, .vm = jvm->vm, .gc = jvm->gc,
		.source = { .of = &c->sources[c->n], .number = number, .text = text },
	};
	m->uptime = stat_timestamp(&m->source);
	c->n++;
}

static void release(struct collection *c)
{
	for (size_t i = 0; i < c->n; i++)
		perfdata_release(&c->sources[i].perf);
	free(c->sources);
	free(c->jvms);
}

int stat_metrics(const struct ctx *ctx, struct jvm *const *jvms, size_t n, struct err *err)
{
	struct collection c = {
		.ctx = ctx,
		.all = jvms,
		.sources = xcalloc(n, sizeof(struct source)),
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
