#include "cmd/vm/metrics_document.h"

#include <math.h>
#include <string.h>

#include "base/xalloc.h"
#include "cmd/vm/stat.h"
#include "discover/cgroup.h"
#include "model/vm/metrics.h"
#include "proc/container.h"

#define CGROUP_MAX (64u * 1024) /* limit in bytes for /proc/PID/cgroup */

/*
 * The values of one JVM for the document: its counters, and its memory as the kernel reports it;
 * NAN: unknown.
 */
struct metrics_source {
	struct perfdata perf;
	double resident, swapped, limit; /* bytes */
	char *pod_uid, *pod_container; /* uid of its pod, and id of the pod's container; or NULL */
};

static double number(const void *of, const char *name)
{
	const struct metrics_source *s = of;
	const struct counter_source counters = stat_counter_source(&s->perf);

	if (strcmp(name, METRIC_RESIDENT) == 0)
		return s->resident;
	if (strcmp(name, METRIC_SWAPPED) == 0)
		return s->swapped;
	return strcmp(name, METRIC_LIMIT) == 0 ? s->limit : counter_number(&counters, name);
}

static const char *text(const void *of, const char *name)
{
	return perfdata_text(&((const struct metrics_source *)of)->perf, name);
}

static double known(int64_t bytes)
{
	return bytes >= 0 ? (double)bytes : (double)NAN;
}

/*
 * Sets the values in *s that the kernel reports; NAN: unknown.  `proc` is NULL if /proc could not
 * be opened.
 */
static void read_kernel(struct metrics_source *s, const struct procfs *proc, const struct jvm *jvm)
{
	_cleanup_buf_ struct buf groups = BUF_INIT;
	struct proc_memory memory;

	s->resident = s->swapped = s->limit = (double)NAN;
	if (!proc)
		return;
	if (procfs_memory(proc, jvm->pid, &memory) == 0) {
		s->resident = known(memory.resident);
		s->swapped = known(memory.swapped);
	}
	s->limit = known(cgroup_lowest_limit(proc, jvm->pid));
	if (jvm->container && procfs_read(proc, jvm->pid, "cgroup", &groups, CGROUP_MAX) == 0) {
		s->pod_uid = container_pod_uid(buf_str(&groups));
		s->pod_container = container_of_pod(buf_str(&groups));
	}
}

/*
 * Sets the names of the JVM's pod.  On a machine with pods, a JVM outside pods has empty names:
 * Prometheus would add the names of the exporter's pod in place of absent ones.
 */
static void set_names(struct openmetrics_jvm *m, const struct pod_names *pods,
		      const char *pod_container)
{
	const struct pod_name *name = pod_names_find(pods, pod_container);

	if (pods->n == 0)
		return;
	m->namespace = name ? name->namespace : "";
	m->pod = name ? name->pod : "";
	m->container_name = name ? name->container : "";
}

struct reading {
	struct metrics_document *doc;
	const struct procfs *proc;
	struct jvm *const *all;
	metrics_skip *skip;
	void *arg;
};

static void visit(void *arg, size_t i, struct perfdata *perf, const struct err *err)
{
	struct reading *r = arg;
	struct metrics_document *doc = r->doc;
	const struct jvm *jvm = r->all[i];
	struct metrics_source *source = &doc->sources[doc->n];
	struct openmetrics_jvm *m = &doc->jvms[doc->n];

	if (!perf) {
		r->skip(r->arg, jvm, err);
		return;
	}
	source->perf = *perf;
	*perf = (struct perfdata){ .data = NULL }; /* so that the caller does not release it */
	read_kernel(source, r->proc, jvm);
	*m = (struct openmetrics_jvm){
		.pid = (int)jvm->pid, .main = jvm->main, .container = jvm->container,
		.pod_uid = source->pod_uid,
		.version = jvm->version, .vm = jvm->vm, .gc = jvm->gc,
		.source = { .of = source, .number = number, .text = text },
	};
	set_names(m, &doc->pods, source->pod_container);
	m->uptime = stat_timestamp(&m->source);
	doc->n++;
}

void metrics_document_read(struct metrics_document *doc, struct jvm *const *jvms, size_t n,
			   metrics_skip *skip, void *arg)
{
	struct procfs proc;
	bool has_proc = procfs_open(&proc, "/proc") == 0;
	struct reading r = { doc, has_proc ? &proc : NULL, jvms, skip, arg };

	*doc = (struct metrics_document){
		.sources = xcalloc(n + 1, sizeof(*doc->sources)),
		.jvms = xcalloc(n + 1, sizeof(*doc->jvms)),
	};
	pod_names_read(&doc->pods, POD_NAMES_DIR);
	hsperf_each(jvms, n, true, visit, &r);
	if (has_proc)
		procfs_close(&proc);
}

void metrics_document_release(struct metrics_document *doc)
{
	for (size_t i = 0; i < doc->n; i++) {
		perfdata_release(&doc->sources[i].perf);
		free(doc->sources[i].pod_uid);
		free(doc->sources[i].pod_container);
	}
	free(doc->sources);
	free(doc->jvms);
	pod_names_release(&doc->pods);
}
