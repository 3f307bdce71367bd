/* The views on the application's code: methods, objects, threads. */
#include "base/util.h"
#include "model/jfr/query/jfr_views_internal.h"

static const struct jfr_query finalizers = {
	.name = "finalizers",
	.title = "Finalizers",
	JFR_SOURCES(
		{ "jdk.FinalizerStatistics", 0, NULL, NULL }
	),
	.group = { "finalizableClass" },
	JFR_COLUMNS(
		{ "class", "finalizableClass", JFR_ANY, false },
		{ "objects", "objects", JFR_LATEST, false },
		{ "total", "totalFinalizersRun", JFR_LATEST, false }
	),
	.order = { -3 },
};

static const struct jfr_query hot_methods = {
	.name = "hot-methods",
	.title = "Java methods that execute the most",
	JFR_SOURCES(
		{ "jdk.ExecutionSample", 0, NULL, NULL }
	),
	.group = { "stackTrace.topFrame" },
	JFR_COLUMNS(
		{ "method", "stackTrace.topFrame", JFR_ANY, false },
		{ "samples", "*", JFR_COUNT_OF, false },
		{ "percent", "*", JFR_COUNT_OF, true }
	),
	.order = { -3 },
	.limit = 25,
};

static const struct jfr_query cpu_time_hot_methods = {
	.name = "cpu-time-hot-methods",
	.title = "Java methods that take the most CPU time",
	JFR_SOURCES(
		{ "jdk.CPUTimeSample", 0, NULL, NULL }
	),
	.group = { "stackTrace.topFrame" },
	JFR_COLUMNS(
		{ "method", "stackTrace.topFrame", JFR_ANY, false },
		{ "samples", "*", JFR_COUNT_OF, false },
		{ "percent", "*", JFR_COUNT_OF, true }
	),
	.order = { -3 },
	.limit = 25,
};

static const struct jfr_query cpu_time_statistics = {
	.name = "cpu-time-statistics",
	.title = "Samples by CPU time",
	.is_form = true,
	JFR_SOURCES(
		{ "jdk.CPUTimeSample", 'S', "failed", "false" },
		{ "jdk.CPUTimeSample", 'F', "failed", "true" },
		{ "jdk.CPUTimeSample", 'B', "biased", "true" },
		{ "jdk.CPUTimeSample", 'A', NULL, NULL },
		{ "jdk.CPUTimeSamplesLost", 'L', NULL, NULL }
	),
	JFR_COLUMNS(
		{ "successful", "S:*", JFR_COUNT_OF, false },
		{ "failed", "F:*", JFR_COUNT_OF, false },
		{ "biased", "B:*", JFR_COUNT_OF, false },
		{ "total", "A:*", JFR_COUNT_OF, false },
		{ "lost", "L:lostSamples", JFR_SUM_OF, false }
	),
};

static const struct jfr_query native_methods = {
	.name = "native-methods",
	.title = "Methods that wait or execute native code",
	JFR_SOURCES(
		{ "jdk.NativeMethodSample", 0, NULL, NULL }
	),
	.group = { "stackTrace.topFrame" },
	JFR_COLUMNS(
		{ "method", "stackTrace.topFrame", JFR_ANY, false },
		{ "samples", "*", JFR_COUNT_OF, false }
	),
	.order = { -2 },
	.limit = 25,
};

static const struct jfr_query latencies_by_type = {
	.name = "latencies-by-type",
	.title = "Latencies by type",
	JFR_SOURCES(
		{ "jdk.JavaMonitorWait", 0, NULL, NULL },
		{ "jdk.JavaMonitorEnter", 0, NULL, NULL },
		{ "jdk.ThreadPark", 0, NULL, NULL },
		{ "jdk.ThreadSleep", 0, NULL, NULL },
		{ "jdk.SocketRead", 0, NULL, NULL },
		{ "jdk.SocketWrite", 0, NULL, NULL },
		{ "jdk.FileWrite", 0, NULL, NULL },
		{ "jdk.FileRead", 0, NULL, NULL }
	),
	.group = { "eventType.label" },
	JFR_COLUMNS(
		{ "event", "eventType.label", JFR_ANY, false },
		{ "count", "*", JFR_COUNT_OF, false },
		{ "average", "duration", JFR_MEAN, false },
		{ "p99", "duration", JFR_P99, false },
		{ "longest", "duration", JFR_GREATEST, false },
		{ "total", "duration", JFR_SUM_OF, false }
	),
	.order = { -6 },
};

static const struct jfr_query memory_leaks_by_class = {
	.name = "memory-leaks-by-class",
	.title = "Candidates for memory leaks by class",
	JFR_SOURCES(
		{ "jdk.OldObjectSample", 0, NULL, NULL }
	),
	.group = { "object.type" },
	JFR_COLUMNS(
		{ "allocated", "allocationTime", JFR_LATEST, false },
		{ "class", "object.type", JFR_LATEST, false },
		{ "age", "objectAge", JFR_LATEST, false },
		{ "heap_used", "lastKnownHeapUsage", JFR_LATEST, false }
	),
	.order = { 1 },
};

static const struct jfr_query memory_leaks_by_site = {
	.name = "memory-leaks-by-site",
	.title = "Candidates for memory leaks by site",
	JFR_SOURCES(
		{ "jdk.OldObjectSample", 0, NULL, NULL }
	),
	.group = { "stackTrace.topApplicationFrame" },
	JFR_COLUMNS(
		{ "allocated", "allocationTime", JFR_LATEST, false },
		{ "method", "stackTrace.topApplicationFrame", JFR_LATEST, false },
		{ "age", "objectAge", JFR_LATEST, false },
		{ "heap_used", "lastKnownHeapUsage", JFR_LATEST, false }
	),
	.order = { 1 },
};

static const struct jfr_query method_timing = {
	.name = "method-timing",
	.title = "Times of methods",
	JFR_SOURCES(
		{ "jdk.MethodTiming", 0, NULL, NULL }
	),
	.group = { "method" },
	JFR_COLUMNS(
		{ "method", "method", JFR_LATEST, false },
		{ "calls", "invocations", JFR_LATEST, false },
		{ "shortest", "minimum", JFR_LATEST, false },
		{ "average", "average", JFR_LATEST, false },
		{ "longest", "maximum", JFR_LATEST, false }
	),
	.order = { -4 },
};

static const struct jfr_query method_calls = {
	.name = "method-calls",
	.title = "Traced methods by caller",
	JFR_SOURCES(
		{ "jdk.MethodTrace", 0, NULL, NULL }
	),
	.group = { "method", "stackTrace.topFrame" },
	JFR_COLUMNS(
		{ "method", "method", JFR_ANY, false },
		{ "caller", "stackTrace.topFrame", JFR_ANY, false },
		{ "calls", "*", JFR_COUNT_OF, false }
	),
	.order = { -3 },
};

static const struct jfr_query deprecated_methods_for_removal = {
	.name = "deprecated-methods-for-removal",
	.title = "Deprecated methods for removal that were called",
	JFR_SOURCES(
		{ "jdk.DeprecatedInvocation", 0, NULL, NULL }
	),
	.group = { "method" },
	JFR_COLUMNS(
		{ "method", "method", JFR_ANY, false },
		{ "callers", "stackTrace.topFrame.method.type", JFR_UNIQUE, false }
	),
	.order = { 1 },
};

static const struct jfr_query modules = {
	.name = "modules",
	.title = "Modules",
	JFR_SOURCES(
		{ "jdk.ModuleRequire", 0, NULL, NULL }
	),
	.group = { "source.name" },
	JFR_COLUMNS(
		{ "module", "source.name", JFR_LAST, false }
	),
	.order = { 1 },
};

static const struct jfr_query monitor_inflation = {
	.name = "monitor-inflation",
	.title = "Inflated monitors",
	JFR_SOURCES(
		{ "jdk.JavaMonitorInflate", 0, NULL, NULL }
	),
	.group = { "stackTrace", "monitorClass" },
	JFR_COLUMNS(
		{ "method", "stackTrace", JFR_ANY, false },
		{ "class", "monitorClass", JFR_ANY, false },
		{ "count", "*", JFR_COUNT_OF, false },
		{ "total", "duration", JFR_SUM_OF, false }
	),
	.order = { -4 },
};

static const struct jfr_query object_statistics = {
	.name = "object-statistics",
	.title = "Objects that occupy more than 1 %",
	JFR_SOURCES(
		{ "jdk.ObjectCountAfterGC", 0, NULL, NULL },
		{ "jdk.ObjectCount", 0, NULL, NULL }
	),
	.group = { "objectClass" },
	JFR_COLUMNS(
		{ "class", "objectClass", JFR_LATEST, false },
		{ "objects", "count", JFR_LATEST, false },
		{ "bytes", "totalSize", JFR_LATEST, false },
		{ "increase", "totalSize", JFR_DIFFERENCE, false }
	),
	.order = { -3 },
};

static const struct jfr_query pinned_threads = {
	.name = "pinned-threads",
	.title = "Pinned virtual threads",
	JFR_SOURCES(
		{ "jdk.VirtualThreadPinned", 0, NULL, NULL }
	),
	.group = { "stackTrace.topApplicationFrame" },
	JFR_COLUMNS(
		{ "method", "stackTrace.topApplicationFrame", JFR_ANY, false },
		{ "pinned", "*", JFR_COUNT_OF, false },
		{ "longest", "duration", JFR_GREATEST, false },
		{ "total", "duration", JFR_SUM_OF, false }
	),
	.order = { -4 },
};

static const struct jfr_query thread_allocation = {
	.name = "thread-allocation",
	.title = "Allocation by thread since its start",
	JFR_SOURCES(
		{ "jdk.ThreadAllocationStatistics", 0, NULL, NULL }
	),
	.group = { "thread" },
	JFR_COLUMNS(
		{ "thread", "thread", JFR_ANY, false },
		{ "bytes", "allocated", JFR_LAST, false },
		{ "percent", "allocated", JFR_LAST, true }
	),
	.order = { -2 },
};

static const struct jfr_query thread_count = {
	.name = "thread-count",
	.title = "Numbers of threads",
	JFR_SOURCES(
		{ "jdk.JavaThreadStatistics", 0, NULL, NULL }
	),
	JFR_COLUMNS(
		{ "time", "startTime", JFR_ANY, false },
		{ "active", "activeCount", JFR_ANY, false },
		{ "daemon", "daemonCount", JFR_ANY, false },
		{ "started", "accumulatedCount", JFR_ANY, false },
		{ "peak", "peakCount", JFR_ANY, false }
	),
	.order = { 1 },
};

static const struct jfr_query thread_cpu_load = {
	.name = "thread-cpu-load",
	.title = "CPU load by thread",
	JFR_SOURCES(
		{ "jdk.ThreadCPULoad", 0, NULL, NULL }
	),
	.group = { "eventThread" },
	JFR_COLUMNS(
		{ "thread", "eventThread", JFR_ANY, false },
		{ "system", "system", JFR_LAST, false },
		{ "user", "user", JFR_LAST, false }
	),
	.order = { -3 },
};

static const struct jfr_query thread_start = {
	.name = "thread-start",
	.title = "Platform threads by start",
	JFR_SOURCES(
		{ "jdk.ThreadStart", 'S', NULL, NULL },
		{ "jdk.ThreadEnd", 'E', NULL, NULL }
	),
	.group = { "eventThread" },
	JFR_COLUMNS(
		{ "start", "S:startTime", JFR_ANY, false },
		{ "method", "S:stackTrace", JFR_ANY, false },
		{ "thread", "eventThread", JFR_ANY, false },
		{ "lived", "startTime", JFR_DIFFERENCE, false }
	),
	.order = { -4 },
};

static const struct jfr_query longest_class_loading = {
	.name = "longest-class-loading",
	.title = "Longest class loading",
	JFR_SOURCES(
		{ "jdk.ClassLoad", 0, NULL, NULL }
	),
	JFR_COLUMNS(
		{ "time", "startTime", JFR_ANY, false },
		{ "class", "loadedClass", JFR_ANY, false },
		{ "duration", "duration", JFR_ANY, false }
	),
	.order = { -3 },
	.limit = 25,
};

const struct jfr_query *const jfr_views_code[] = {
	&finalizers, &hot_methods, &cpu_time_hot_methods, &cpu_time_statistics, &native_methods,
	&latencies_by_type, &memory_leaks_by_class, &memory_leaks_by_site, &method_timing,
	&method_calls, &deprecated_methods_for_removal, &modules, &monitor_inflation,
	&object_statistics, &pinned_threads, &thread_allocation, &thread_count, &thread_cpu_load,
	&thread_start, &longest_class_loading,
	NULL,
};
