/* A document about JVMs: their counters, and what the kernel says of their memory. */
#ifndef JTOOL_CMD_VM_METRICS_DOCUMENT_H
#define JTOOL_CMD_VM_METRICS_DOCUMENT_H

#include <stdio.h>

#include "discover/jvm.h"
#include "proc/pod_names.h"
#include "render/vm/openmetrics.h"

/* What is read of a JVM. */
struct metrics_source;

struct metrics_document {
	struct metrics_source *sources;
	struct openmetrics_jvm *jvms;
	size_t n; /* JVMs that publish counters */
	struct pod_names pods;
};

/* Called for a JVM that publishes no counters, or that has just exited. */
typedef void metrics_skip(void *arg, const struct jvm *jvm, const struct err *err);

/* Reads the JVMs, which must exist as long as the document. */
void metrics_document_read(struct metrics_document *doc, struct jvm *const *jvms, size_t n,
			   metrics_skip *skip, void *arg);
void metrics_document_release(struct metrics_document *doc);

#endif
