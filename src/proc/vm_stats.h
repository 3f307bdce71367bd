/* Heap, collections, classes, threads, safepoints from a JVM's hsperfdata.  Does no I/O. */
#ifndef JTOOL_PROC_VM_STATS_H
#define JTOOL_PROC_VM_STATS_H

#include <stdbool.h>

#include "proc/perfdata.h"

#define SPACES_MAX 8
#define COLLECTORS_MAX 4

/*
 * Texts are owned by the struct perfdata; sizes are in bytes.  Unknown numbers are -1, unknown
 * texts NULL.
 */
struct space {
	const char *name; /* "eden", "s0", "s1", "old"; "Heap" in Shenandoah and Epsilon */
	int64_t used, committed, max;
};

struct collector {
	const char *name;
	int64_t count;
	double seconds;
};

struct vm_stats {
	const char *release; /* java.vm.version: "17.0.15+6-LTS" */
	const char *vendor;  /* java.vm.vendor */
	const char *mode;    /* java.vm.info: "mixed mode, sharing" */
	const char *home;

	struct space spaces[SPACES_MAX];
	size_t n_spaces;
	int64_t used, committed; /* sums over all spaces */
	/*
	 * bytes in use after the last collection; unknown before the first collection, and always
	 * unknown in Shenandoah, whose counter also changes between collections
	 */
	int64_t used_after;
	int64_t metaspace_used, metaspace_committed; /* often unknown before the first collection */

	struct collector collectors[COLLECTORS_MAX];
	size_t n_collectors;
	/* causes of the collection that is running, and of the last one */
	const char *cause, *last_cause;

	int64_t classes_loaded, classes_unloaded; /* numbers since the start of the JVM */
	int64_t threads, daemons, threads_peak;
	int64_t safepoints;
	double safepoint_seconds;
};

void vm_stats_read(const struct perfdata *perf, struct vm_stats *stats);
/* Returns the space with this name, or NULL. */
const struct space *vm_stats_space(const struct vm_stats *stats, const char *name);

#endif
