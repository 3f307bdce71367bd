#include "model/metrics.h"

#include <math.h>
#include <stdio.h>

#include "base/util.h"

/* Nothing here is below 0; what is, or is no number, is a counter that makes no sense. */
static void offer(const struct metric *m, const struct metric_value *value, metric_visit *visit,
		  void *arg)
{
	if (!isfinite(value->value) || value->value < 0)
		return;
	if (m->type == METRIC_SUMMARY && !(isfinite(value->count) && value->count >= 0))
		return;
	visit(value, arg);
}

/* A gauge: one counter. */
static void read_one(const struct metric *m, const struct readings *r, metric_visit *visit,
		     void *arg)
{
	offer(m, &(struct metric_value){ .value = readings_number(r, m->counters[0]) }, visit,
	      arg);
}

/* A summary: how often, and how many ticks. */
static void read_times(const struct metric *m, const struct readings *r, metric_visit *visit,
		       void *arg)
{
	const struct metric_value value = {
		.count = readings_number(r, m->counters[0]),
		.value = readings_seconds(r, m->counters[1]),
	};

	offer(m, &value, visit, arg);
}

static double classes_loaded(const struct readings *r)
{
	return readings_number(r, "java.cls.loadedClasses") +
	       readings_number(r, "java.cls.sharedLoadedClasses");
}

static void read_classes(const struct metric *m, const struct readings *r, metric_visit *visit,
			 void *arg)
{
	double unloaded = readings_number(r, "java.cls.unloadedClasses") +
			  readings_number(r, "java.cls.sharedUnloadedClasses");

	offer(m, &(struct metric_value){ .value = classes_loaded(r) - unloaded }, visit, arg);
}

static void read_class_loading(const struct metric *m, const struct readings *r,
			       metric_visit *visit, void *arg)
{
	const struct metric_value value = {
		.count = classes_loaded(r),
		.value = readings_seconds(r, "sun.cls.time"),
	};

	offer(m, &value, visit, arg);
}

/*
 * Each memory pool's used, capacity or maxCapacity.  The names are ours: those in the counters
 * differ by collector for the same thing, and might come twice.
 */
static void read_pools(const struct metric *m, const struct readings *r, metric_visit *visit,
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
		offer(m, &(struct metric_value){ "pool", pools[i].label,
						 readings_number(r, name), 0 }, visit, arg);
	}
}

/* Not every collector begins with number 0: ZGC of JDK 17 is 2. */
static void read_collectors(const struct metric *m, const struct readings *r, metric_visit *visit,
			    void *arg)
{
	char name[48], count[48], time[48];

	for (int i = 0; i < 8; i++) {
		struct metric_value value = { .label = "gc" };

		(void)snprintf(name, sizeof(name), "sun.gc.collector.%d.name", i);
		(void)snprintf(count, sizeof(count), "sun.gc.collector.%d.invocations", i);
		(void)snprintf(time, sizeof(time), "sun.gc.collector.%d.time", i);
		value.label_value = readings_text(r, name);
		value.count = readings_number(r, count);
		value.value = readings_seconds(r, time);
		if (value.label_value)
			offer(m, &value, visit, arg);
	}
}

const struct metric metrics[] = {
	{ "jvm_memory_pool_used_bytes", "bytes", METRIC_GAUGE,
	  "Memory in use, by pool; compressed class space is a part of metaspace.",
	  read_pools, { "used" } },
	{ "jvm_memory_pool_committed_bytes", "bytes", METRIC_GAUGE,
	  "Memory that the JVM has taken from the system, by pool.",
	  read_pools, { "capacity" } },
	{ "jvm_memory_pool_max_bytes", "bytes", METRIC_GAUGE,
	  "What a pool may grow to.",
	  read_pools, { "maxCapacity" } },
	{ "jvm_gc_collection_seconds", "seconds", METRIC_SUMMARY,
	  "Pauses for garbage collection, by collector.",
	  read_collectors, { NULL } },
	{ "jvm_safepoint_seconds", "seconds", METRIC_SUMMARY,
	  "Safepoints: how long the application stood still.",
	  read_times, { "sun.rt.safepoints", "sun.rt.safepointTime" } },
	{ "jvm_safepoint_sync_seconds", "seconds", METRIC_SUMMARY,
	  "Safepoints: how long it took until all threads had stopped.",
	  read_times, { "sun.rt.safepoints", "sun.rt.safepointSyncTime" } },
	{ "jvm_threads_live", NULL, METRIC_GAUGE,
	  "Java threads.",
	  read_one, { "java.threads.live" } },
	{ "jvm_threads_daemon", NULL, METRIC_GAUGE,
	  "Those of them that do not keep the JVM running.",
	  read_one, { "java.threads.daemon" } },
	{ "jvm_threads_peak", NULL, METRIC_GAUGE,
	  "The most Java threads that there were at a time.",
	  read_one, { "java.threads.livePeak" } },
	{ "jvm_classes_loaded", NULL, METRIC_GAUGE,
	  "Classes that are loaded.",
	  read_classes, { NULL } },
	{ "jvm_class_loading_seconds", "seconds", METRIC_SUMMARY,
	  "Classes loaded since the start, and the time that took.",
	  read_class_loading, { NULL } },
	{ "jvm_compilation_seconds", "seconds", METRIC_SUMMARY,
	  "Compilations by the JIT compilers, and the time they took.",
	  read_times, { "sun.ci.totalCompiles", "java.ci.totalTime" } },
	{ NULL, NULL, METRIC_GAUGE, NULL, NULL, { NULL } },
};
