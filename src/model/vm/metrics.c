#include "model/vm/metrics.h"

#include <math.h>
#include <stdio.h>

#include "base/util.h"

/*
 * Passes a value to visit(), unless it is negative or not finite, because such values come from
 * corrupt counters.
 */
static void emit(const struct metric *m, const struct metric_value *value, metric_visit *visit,
		 void *arg)
{
	if (!isfinite(value->value) || value->value < 0)
		return;
	if (m->type == METRIC_SUMMARY && !(isfinite(value->count) && value->count >= 0))
		return;
	visit(value, arg);
}

/* Reads a gauge whose value is that of one counter. */
static void read_one(const struct metric *m, const struct counter_source *r, metric_visit *visit,
		     void *arg)
{
	emit(m, &(struct metric_value){ .value = counter_number(r, m->counters[0]) }, visit,
	     arg);
}

/* Reads a summary whose count is a counter of events and whose total is a counter of ticks. */
static void read_times(const struct metric *m, const struct counter_source *r, metric_visit *visit,
		       void *arg)
{
	const struct metric_value value = {
		.count = counter_number(r, m->counters[0]),
		.value = counter_seconds(r, m->counters[1]),
	};

	emit(m, &value, visit, arg);
}

static double classes_loaded(const struct counter_source *r)
{
	return counter_number(r, "java.cls.loadedClasses") +
	       counter_number(r, "java.cls.sharedLoadedClasses");
}

static void read_classes(const struct metric *m, const struct counter_source *r,
			 metric_visit *visit, void *arg)
{
	double unloaded = counter_number(r, "java.cls.unloadedClasses") +
			  counter_number(r, "java.cls.sharedUnloadedClasses");

	emit(m, &(struct metric_value){ .value = classes_loaded(r) - unloaded }, visit, arg);
}

static void read_class_loading(const struct metric *m, const struct counter_source *r,
			       metric_visit *visit, void *arg)
{
	const struct metric_value value = {
		.count = classes_loaded(r),
		.value = counter_seconds(r, "sun.cls.time"),
	};

	emit(m, &value, visit, arg);
}

/*
 * Reads one counter (used, capacity or maxCapacity) of each memory pool.  The labels are jtool's
 * own, because the JVM's names of pools depend on the collector and may not be unique.
 */
static void read_pools(const struct metric *m, const struct counter_source *r, metric_visit *visit,
		       void *arg)
{
	static const struct {
		const char *label, *counter;
	} pools[] = {
		{ "eden", "sun.gc.generation.0.space.0" },
		{ "s0", "sun.gc.generation.0.space.1" },
		{ "s1", "sun.gc.generation.0.space.2" },
		{ "old", "sun.gc.generation.1.space.0" },
		{ "metaspace", "sun.gc.metaspace" },
		{ "compressed class space", "sun.gc.compressedclassspace" },
	};
	char name[64];

	for (size_t i = 0; i < ARRAY_SIZE(pools); i++) {
		(void)snprintf(name, sizeof(name), "%s.%s", pools[i].counter, m->counters[0]);
		emit(m, &(struct metric_value){ "pool", pools[i].label,
						counter_number(r, name), 0 }, visit, arg);
	}
}

/*
 * Reads a summary for each garbage collector.  The collectors' numbers do not always begin with 0:
 * in JDK 17, ZGC has only number 2.
 */
static void read_collectors(const struct metric *m, const struct counter_source *r,
			    metric_visit *visit, void *arg)
{
	char name[48], count[48], time[48];

	for (int i = 0; i < 8; i++) {
		struct metric_value value = { .label = "gc" };

		(void)snprintf(name, sizeof(name), "sun.gc.collector.%d.name", i);
		(void)snprintf(count, sizeof(count), "sun.gc.collector.%d.invocations", i);
		(void)snprintf(time, sizeof(time), "sun.gc.collector.%d.time", i);
		value.label_value = counter_text(r, name);
		value.count = counter_number(r, count);
		value.value = counter_seconds(r, time);
		if (value.label_value)
			emit(m, &value, visit, arg);
	}
}

const struct metric metrics[] = {
	{ "jvm_memory_pool_used_bytes", "bytes", METRIC_GAUGE,
	  "Memory in use, by pool; compressed class space is a part of metaspace.",
	  read_pools, { "used" } },
	{ "jvm_memory_pool_committed_bytes", "bytes", METRIC_GAUGE,
	  "Memory that the JVM has committed, by pool.",
	  read_pools, { "capacity" } },
	{ "jvm_memory_pool_max_bytes", "bytes", METRIC_GAUGE,
	  "Maximum size, by pool.",
	  read_pools, { "maxCapacity" } },
	{ "jvm_gc_collection_seconds", "seconds", METRIC_SUMMARY,
	  "Pauses for garbage collection, by collector; of Shenandoah with its concurrent phases.",
	  read_collectors, { NULL } },
	{ "jvm_safepoint_seconds", "seconds", METRIC_SUMMARY,
	  "Safepoints, and the time that the application was paused.",
	  read_times, { "sun.rt.safepoints", "sun.rt.safepointTime" } },
	{ "jvm_safepoint_sync_seconds", "seconds", METRIC_SUMMARY,
	  "Safepoints, and the time until all threads reached them.",
	  read_times, { "sun.rt.safepoints", "sun.rt.safepointSyncTime" } },
	{ "jvm_process_resident_bytes", "bytes", METRIC_GAUGE,
	  "Resident memory of the process.",
	  read_one, { METRIC_RESIDENT } },
	{ "jvm_process_swapped_bytes", "bytes", METRIC_GAUGE,
	  "Memory of the process that is swapped out.",
	  read_one, { METRIC_SWAPPED } },
	{ "jvm_memory_limit_bytes", "bytes", METRIC_GAUGE,
	  "Lowest memory limit of the control groups of the process.",
	  read_one, { METRIC_LIMIT } },
	{ "jvm_threads_live", NULL, METRIC_GAUGE,
	  "Live Java threads.",
	  read_one, { "java.threads.live" } },
	{ "jvm_threads_daemon", NULL, METRIC_GAUGE,
	  "Live daemon threads.",
	  read_one, { "java.threads.daemon" } },
	{ "jvm_threads_peak", NULL, METRIC_GAUGE,
	  "Peak number of live Java threads.",
	  read_one, { "java.threads.livePeak" } },
	{ "jvm_classes_loaded", NULL, METRIC_GAUGE,
	  "Loaded classes.",
	  read_classes, { NULL } },
	{ "jvm_class_loading_seconds", "seconds", METRIC_SUMMARY,
	  "Classes loaded since the start, and the loading time.",
	  read_class_loading, { NULL } },
	{ "jvm_compilation_seconds", "seconds", METRIC_SUMMARY,
	  "JIT compilations, and their time.",
	  read_times, { "sun.ci.totalCompiles", "java.ci.totalTime" } },
	{ NULL, NULL, METRIC_GAUGE, NULL, NULL, { NULL } },
};
