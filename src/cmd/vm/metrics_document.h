/*
 * Reads the values of JVMs for a document of metrics: their counters, and their memory as the
 * kernel reports it.
 */
#ifndef JTOOL_CMD_VM_METRICS_DOCUMENT_H
#define JTOOL_CMD_VM_METRICS_DOCUMENT_H

#include <stdio.h>

#include "discover/jvm.h"
#include "proc/pod_names.h"
#include "render/vm/openmetrics.h"

/* The values of one JVM; defined in metrics_document.c. */
struct metrics_source;

struct metrics_document {
	struct metrics_source *sources;
	struct openmetrics_jvm *jvms;
	size_t n; /* number of JVMs that publish counters; only these are in `sources` and `jvms` */
	struct pod_names pods;
};

/*
 * A function that is called for a JVM that publishes no counters or has just exited; `err` has the
 * reason.
 */
typedef void metrics_skip(void *arg, const struct jvm *jvm, const struct err *err);

/*
 * Reads the values of the `n` JVMs.  The JVMs must exist as long as the document.  Calls skip() for
 * each JVM that has no counters.
 */
void metrics_document_read(struct metrics_document *doc, struct jvm *const *jvms, size_t n,
			   metrics_skip *skip, void *arg);
void metrics_document_release(struct metrics_document *doc);

#endif
