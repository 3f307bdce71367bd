#include "proc/vm_stats.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const char *name_of(char name[static 96], const char *fmt, ...) _printf_(2, 3);
static const char *name_of(char name[static 96], const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(name, 96, fmt, ap);
	va_end(ap);
	return name;
}

/* Returns a size or a count; -1 if the counter is absent, or is negative and thus corrupt. */
static int64_t number_of(const struct perfdata *perf, const char *name)
{
	int64_t number = perfdata_number(perf, name, -1);

	return number < 0 ? -1 : number;
}

/*
 * Returns the value of a counter of ticks, converted to seconds.  The number of ticks per second is
 * in the counter sun.os.hrt.frequency, which is os::elapsed_frequency().
 */
static double seconds_of(const struct perfdata *perf, const char *name)
{
	int64_t ticks = number_of(perf, name);
	int64_t frequency = number_of(perf, "sun.os.hrt.frequency");

	return ticks < 0 || frequency <= 0 ? -1 : (double)ticks / (double)frequency;
}

/*
 * Returns a capacity in bytes, rounded down to 4 KB, because JDK 8's G1 adds a few words to it
 * (g1MonitoringSupport.hpp, pad_capacity()).
 */
static int64_t capacity_of(const struct perfdata *perf, const char *name)
{
	int64_t size = number_of(perf, name);

	return size < 0 ? -1 : size & ~(int64_t)4095;
}

/* Returns the sum of two numbers.  If one number is unknown (-1), returns the other number. */
static int64_t add(int64_t a, int64_t b)
{
	int64_t sum;

	if (a < 0 || b < 0)
		return a < 0 ? b : a;
	return __builtin_add_overflow(a, b, &sum) ? -1 : sum;
}

static bool read_space(const struct perfdata *perf, int generation, int i, struct space *out)
{
	char prefix[64], name[96];

	(void)snprintf(prefix, sizeof(prefix), "sun.gc.generation.%d.space.%d", generation, i);
	out->name = perfdata_nonempty_text(perf, name_of(name, "%s.name", prefix));
	if (!out->name)
		return false;
	/*
	 * In a generation with only one space, the space is called "space", so use the generation's
	 * name.
	 */
	if (strcmp(out->name, "space") == 0)
		out->name = perfdata_nonempty_text(perf, name_of(name, "sun.gc.generation.%d.name",
							 generation));
	out->used = number_of(perf, name_of(name, "%s.used", prefix));
	out->committed = capacity_of(perf, name_of(name, "%s.capacity", prefix));
	out->max = capacity_of(perf, name_of(name, "%s.maxCapacity", prefix));
	return out->name != NULL;
}

static void read_heap(const struct perfdata *perf, struct vm_stats *stats)
{
	stats->used = stats->committed = -1;
	for (int generation = 0; generation < 2; generation++) {
		for (int i = 0; i < SPACES_MAX / 2; i++) {
			struct space *space = &stats->spaces[stats->n_spaces];

			if (!read_space(perf, generation, i, space))
				continue;
			stats->used = add(stats->used, space->used);
			stats->committed = add(stats->committed, space->committed);
			stats->n_spaces++;
		}
	}
	stats->metaspace_used = number_of(perf, "sun.gc.metaspace.used");
	stats->metaspace_committed = number_of(perf, "sun.gc.metaspace.capacity");
	if (stats->metaspace_committed <= 0) /* 0 or -1: not published yet */
		stats->metaspace_used = stats->metaspace_committed = -1;
}

const struct space *vm_stats_space(const struct vm_stats *stats, const char *name)
{
	for (size_t i = 0; i < stats->n_spaces; i++) {
		if (strcmp(stats->spaces[i].name, name) == 0)
			return &stats->spaces[i];
	}
	return NULL;
}

/*
 * Sets used_after to the bytes in use in all spaces except eden, because the counters of these
 * spaces change only at collections.  (ZGC has no eden, so all spaces count.)  There are two
 * exceptions.  In G1, humongous objects increase the counter of the space "old" at any time; the
 * result is then too high.  Shenandoah has only the space "Heap", whose counter changes at any
 * time, so used_after is unknown.
 */
static void find_used_after(struct vm_stats *stats)
{
	const struct space *eden = vm_stats_space(stats, "eden");
	int64_t collections = -1, in_eden = eden ? eden->used : 0;

	for (size_t i = 0; i < stats->n_collectors; i++)
		collections = add(collections, stats->collectors[i].count);
	stats->used_after = -1;
	if (collections > 0 && in_eden >= 0 && stats->used >= in_eden &&
	    !vm_stats_space(stats, "Heap"))
		stats->used_after = stats->used - in_eden;
}

/*
 * Tries all numbers N of the counters sun.gc.collector.N, because they are not consecutive: ZGC
 * begins with 2 up to JDK 21, and skips 1 in later JDKs.
 */
static void read_collectors(const struct perfdata *perf, struct vm_stats *stats)
{
	char name[96];

	for (int i = 0; i < COLLECTORS_MAX; i++) {
		struct collector *c = &stats->collectors[stats->n_collectors];

		c->name = perfdata_nonempty_text(perf,
						 name_of(name, "sun.gc.collector.%d.name", i));
		c->count = number_of(perf, name_of(name, "sun.gc.collector.%d.invocations", i));
		c->seconds = seconds_of(perf, name_of(name, "sun.gc.collector.%d.time", i));
		stats->n_collectors += c->name != NULL;
	}
	stats->cause = perfdata_nonempty_text(perf, "sun.gc.cause");
	stats->last_cause = perfdata_nonempty_text(perf, "sun.gc.lastCause");
}

void vm_stats_read(const struct perfdata *perf, struct vm_stats *stats)
{
	*stats = (struct vm_stats){
		.release = perfdata_nonempty_text(perf, "java.property.java.vm.version"),
		.vendor = perfdata_nonempty_text(perf, "java.property.java.vm.vendor"),
		.mode = perfdata_nonempty_text(perf, "java.property.java.vm.info"),
		.home = perfdata_nonempty_text(perf, "java.property.java.home"),
		.classes_loaded = add(number_of(perf, "java.cls.loadedClasses"),
				      number_of(perf, "java.cls.sharedLoadedClasses")),
		.classes_unloaded = add(number_of(perf, "java.cls.unloadedClasses"),
					number_of(perf, "java.cls.sharedUnloadedClasses")),
		.threads = number_of(perf, "java.threads.live"),
		.daemons = number_of(perf, "java.threads.daemon"),
		.threads_peak = number_of(perf, "java.threads.livePeak"),
		.safepoints = number_of(perf, "sun.rt.safepoints"),
		.safepoint_seconds = seconds_of(perf, "sun.rt.safepointTime"),
	};
	read_heap(perf, stats);
	read_collectors(perf, stats);
	find_used_after(stats);
}
