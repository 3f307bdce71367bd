/* Views of garbage collection. */
#include "base/util.h"
#include "model/jfr/query/jfr_views_internal.h"

static const struct jfr_query blocked_by_system_gc = {
	.name = "blocked-by-system-gc",
	.title = "Calls of System.gc() that wait for the collection",
	JFR_SOURCES(
		{ "jdk.SystemGC", 0, "invokedConcurrent", "false" }
	),
	JFR_COLUMNS(
		{ "time", "startTime", JFR_ANY, false },
		{ "duration", "duration", JFR_ANY, false },
		{ "method", "stackTrace", JFR_ANY, false }
	),
	.order = { -2 },
	.limit = 25,
};

static const struct jfr_query gc = {
	.name = "gc",
	.title = "Garbage collections",
	JFR_SOURCES(
		{ "jdk.GarbageCollection", 'G', NULL, NULL },
		{ "jdk.GCHeapSummary", 'B', "when", "Before GC" },
		{ "jdk.GCHeapSummary", 'A', "when", "After GC" },
		{ "jdk.OldGarbageCollection", 'O', NULL, NULL },
		{ "jdk.YoungGarbageCollection", 'Y', NULL, NULL }
	),
	.group = { "gcId" },
	JFR_COLUMNS(
		{ "time", "G:startTime", JFR_ANY, false },
		{ "gc_id", "gcId", JFR_ANY, false },
		{ "type", "YO:eventType.label", JFR_ANY, false },
		{ "heap_before", "B:heapUsed", JFR_ANY, false },
		{ "heap_after", "A:heapUsed", JFR_ANY, false },
		{ "longest_pause", "G:longestPause", JFR_ANY, false }
	),
	.order = { 1 },
};

static const struct jfr_query gc_concurrent_phases = {
	.name = "gc-concurrent-phases",
	.title = "Concurrent phases of collections",
	JFR_SOURCES(
		{ "jdk.GCPhaseConcurrent", 0, NULL, NULL },
		{ "jdk.GCPhaseConcurrentLevel1", 0, NULL, NULL }
	),
	.group = { "name" },
	JFR_COLUMNS(
		{ "name", "name", JFR_ANY, false },
		{ "average", "duration", JFR_MEAN, false },
		{ "p95", "duration", JFR_P95, false },
		{ "longest", "duration", JFR_GREATEST, false },
		{ "count", "*", JFR_COUNT_OF, false },
		{ "total", "duration", JFR_SUM_OF, false }
	),
	.order = { -6 },
};

static const struct jfr_query gc_parallel_phases = {
	.name = "gc-parallel-phases",
	.title = "Parallel phases of collections",
	JFR_SOURCES(
		{ "jdk.GCPhaseParallel", 0, NULL, NULL }
	),
	.group = { "name" },
	JFR_COLUMNS(
		{ "name", "name", JFR_ANY, false },
		{ "average", "duration", JFR_MEAN, false },
		{ "p95", "duration", JFR_P95, false },
		{ "longest", "duration", JFR_GREATEST, false },
		{ "count", "*", JFR_COUNT_OF, false },
		{ "total", "duration", JFR_SUM_OF, false }
	),
	.order = { -6 },
};

static const struct jfr_query gc_configuration = {
	.name = "gc-configuration",
	.title = "Configuration of the collector",
	.is_form = true,
	JFR_SOURCES(
		{ "jdk.GCConfiguration", 0, NULL, NULL }
	),
	JFR_COLUMNS(
		{ "young", "youngCollector", JFR_LAST, false },
		{ "old", "oldCollector", JFR_LAST, false },
		{ "parallel_threads", "parallelGCThreads", JFR_LAST, false },
		{ "concurrent_threads", "concurrentGCThreads", JFR_LAST, false },
		{ "dynamic_threads", "usesDynamicGCThreads", JFR_LAST, false },
		{ "concurrent_explicit", "isExplicitGCConcurrent", JFR_LAST, false },
		{ "disabled_explicit", "isExplicitGCDisabled", JFR_LAST, false },
		{ "pause_target", "pauseTarget", JFR_LAST, false },
		{ "time_ratio", "gcTimeRatio", JFR_LAST, false }
	),
};

static const struct jfr_query gc_references = {
	.name = "gc-references",
	.title = "References by collection",
	JFR_SOURCES(
		{ "jdk.GCReferenceStatistics", 'S', "type", "Soft reference" },
		{ "jdk.GCReferenceStatistics", 'W', "type", "Weak reference" },
		{ "jdk.GCReferenceStatistics", 'P', "type", "Phantom reference" },
		{ "jdk.GCReferenceStatistics", 'F', "type", "Final reference" },
		{ "jdk.GCReferenceStatistics", 'G', NULL, NULL }
	),
	.group = { "gcId" },
	JFR_COLUMNS(
		{ "time", "G:startTime", JFR_ANY, false },
		{ "gc_id", "G:gcId", JFR_ANY, false },
		{ "soft", "S:count", JFR_ANY, false },
		{ "weak", "W:count", JFR_ANY, false },
		{ "phantom", "P:count", JFR_ANY, false },
		{ "final", "F:count", JFR_ANY, false },
		{ "total", "G:count", JFR_SUM_OF, false }
	),
	.order = { 2 },
};

static const struct jfr_query gc_pause_phases = {
	.name = "gc-pause-phases",
	.title = "Phases of pauses",
	JFR_SOURCES(
		{ "jdk.GCPhasePause", 0, NULL, NULL },
		{ "jdk.GCPhasePauseLevel1", 0, NULL, NULL },
		{ "jdk.GCPhasePauseLevel2", 0, NULL, NULL },
		{ "jdk.GCPhasePauseLevel3", 0, NULL, NULL },
		{ "jdk.GCPhasePauseLevel4", 0, NULL, NULL }
	),
	.group = { "name" },
	JFR_COLUMNS(
		{ "type", "eventType.label", JFR_ANY, false },
		{ "name", "name", JFR_ANY, false },
		{ "average", "duration", JFR_MEAN, false },
		{ "p95", "duration", JFR_P95, false },
		{ "longest", "duration", JFR_GREATEST, false },
		{ "count", "*", JFR_COUNT_OF, false },
		{ "total", "duration", JFR_SUM_OF, false }
	),
	.order = { 1, -7 },
};

static const struct jfr_query gc_pauses = {
	.name = "gc-pauses",
	.title = "Pauses of collections",
	.is_form = true,
	JFR_SOURCES(
		{ "jdk.GCPhasePause", 0, NULL, NULL }
	),
	JFR_COLUMNS(
		{ "total", "duration", JFR_SUM_OF, false },
		{ "pauses", "*", JFR_COUNT_OF, false },
		{ "shortest", "duration", JFR_LEAST, false },
		{ "median", "duration", JFR_MEDIAN, false },
		{ "average", "duration", JFR_MEAN, false },
		{ "p90", "duration", JFR_P90, false },
		{ "p95", "duration", JFR_P95, false },
		{ "p99", "duration", JFR_P99, false },
		{ "p999", "duration", JFR_P999, false },
		{ "longest", "duration", JFR_GREATEST, false }
	),
};

static const struct jfr_query gc_allocation_trigger = {
	.name = "gc-allocation-trigger",
	.title = "Allocations that start a collection",
	JFR_SOURCES(
		{ "jdk.AllocationRequiringGC", 0, NULL, NULL }
	),
	.group = { "stackTrace.topApplicationFrame" },
	JFR_COLUMNS(
		{ "method", "stackTrace.topApplicationFrame", JFR_ANY, false },
		{ "count", "*", JFR_COUNT_OF, false },
		{ "bytes", "size", JFR_SUM_OF, false }
	),
	.order = { -3 },
};

static const struct jfr_query gc_cpu_time = {
	.name = "gc-cpu-time",
	.title = "CPU time of collections",
	.is_form = true,
	JFR_SOURCES(
		{ "jdk.GCCPUTime", 0, NULL, NULL }
	),
	JFR_COLUMNS(
		{ "user", "userTime", JFR_SUM_OF, false },
		{ "system", "systemTime", JFR_SUM_OF, false },
		{ "wall", "realTime", JFR_SUM_OF, false },
		{ "period", "startTime", JFR_DIFFERENCE, false },
		{ "collections", "*", JFR_COUNT_OF, false }
	),
};

static const struct jfr_query heap_configuration = {
	.name = "heap-configuration",
	.title = "Configuration of the heap",
	.is_form = true,
	JFR_SOURCES(
		{ "jdk.GCHeapConfiguration", 0, NULL, NULL }
	),
	JFR_COLUMNS(
		{ "initial", "initialSize", JFR_LAST, false },
		{ "min", "minSize", JFR_LAST, false },
		{ "max", "maxSize", JFR_LAST, false },
		{ "compressed_oops", "usesCompressedOops", JFR_LAST, false },
		{ "compressed_oops_mode", "compressedOopsMode", JFR_LAST, false }
	),
};

static const struct jfr_query tlabs = {
	.name = "tlabs",
	.title = "Allocation in and outside of TLABs",
	.is_form = true,
	JFR_SOURCES(
		{ "jdk.ObjectAllocationInNewTLAB", 'I', NULL, NULL },
		{ "jdk.ObjectAllocationOutsideTLAB", 'O', NULL, NULL }
	),
	JFR_COLUMNS(
		{ "inside_count", "I:tlabSize", JFR_COUNT_OF, false },
		{ "inside_least", "I:tlabSize", JFR_LEAST, false },
		{ "inside_average", "I:tlabSize", JFR_MEAN, false },
		{ "inside_greatest", "I:tlabSize", JFR_GREATEST, false },
		{ "inside_total", "I:tlabSize", JFR_SUM_OF, false },
		{ "outside_count", "O:allocationSize", JFR_COUNT_OF, false },
		{ "outside_least", "O:allocationSize", JFR_LEAST, false },
		{ "outside_average", "O:allocationSize", JFR_MEAN, false },
		{ "outside_greatest", "O:allocationSize", JFR_GREATEST, false },
		{ "outside_total", "O:allocationSize", JFR_SUM_OF, false }
	),
};

const struct jfr_query *const jfr_views_gc[] = {
	&blocked_by_system_gc, &gc, &gc_concurrent_phases, &gc_parallel_phases, &gc_configuration,
	&gc_references, &gc_pause_phases, &gc_pauses, &gc_allocation_trigger, &gc_cpu_time,
	&heap_configuration, &tlabs,
	NULL,
};
