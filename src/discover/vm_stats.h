/*
 * What a JVM's counters say about its heap, collections, classes, threads and safepoints.  Pure:
 * counters in, figures out.
 */
#ifndef JTOOL_TARGET_FIGURES_H
#define JTOOL_TARGET_FIGURES_H

#include <stdbool.h>

#include "proc/perfdata.h"

#define SPACES_MAX 8
#define COLLECTORS_MAX 4

/* Texts are the counters'.  Numbers are -1, texts NULL, where the JVM does not tell. */
struct space {
	const char *name; /* "eden", "s0", "s1", "old"; "Heap" of collectors without generations */
	int64_t used, committed, max;
};

struct collector {
	const char *name;
	int64_t count;
	double seconds;
};

struct figures {
	const char *release; /* java.vm.version: "17.0.15+6-LTS" */
	const char *vendor;  /* java.vm.vendor */
	const char *mode;    /* java.vm.info: "mixed mode, sharing" */
	const char *home;

	struct space spaces[SPACES_MAX];
	size_t n_spaces;
	int64_t used, committed; /* all spaces */
	int64_t metaspace_used, metaspace_committed; /* mostly unknown before a collection */

	struct collector collectors[COLLECTORS_MAX];
	size_t n_collectors;
	const char *cause, *last_cause; /* of the collection that runs, and of the last one */

	int64_t classes_loaded, classes_unloaded; /* since the start */
	int64_t threads, daemons, threads_peak;
	int64_t safepoints;
	double safepoint_seconds;
};

void figures_read(const struct perfdata *perf, struct figures *f);

#endif
