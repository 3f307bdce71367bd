#include "target/figures.h"

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

/* No size or count is negative. */
static int64_t number_of(const struct perfdata *perf, const char *name)
{
	int64_t number = perfdata_number(perf, name, -1);

	return number < 0 ? -1 : number;
}

/* A counter of ticks; os::elapsed_frequency() says how many make a second. */
static double seconds_of(const struct perfdata *perf, const char *name)
{
	int64_t ticks = number_of(perf, name);
	int64_t frequency = number_of(perf, "sun.os.hrt.frequency");

	return ticks < 0 || frequency <= 0 ? -1 : (double)ticks / (double)frequency;
}

/* JDK 8's G1 adds a few words to each capacity: g1MonitoringSupport.hpp, pad_capacity(). */
static int64_t capacity_of(const struct perfdata *perf, const char *name)
{
	int64_t size = number_of(perf, name);

	return size < 0 ? -1 : size & ~(int64_t)4095;
}

/* The sum, or -1 when there is none. */
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
	out->name = perfdata_words(perf, name_of(name, "%s.name", prefix));
	if (!out->name)
		return false;
	/* Where a generation is one space, only the generation has a name of its own. */
	if (strcmp(out->name, "space") == 0)
		out->name = perfdata_words(perf, name_of(name, "sun.gc.generation.%d.name",
							 generation));
	out->used = number_of(perf, name_of(name, "%s.used", prefix));
	out->committed = capacity_of(perf, name_of(name, "%s.capacity", prefix));
	out->max = capacity_of(perf, name_of(name, "%s.maxCapacity", prefix));
	return out->name != NULL;
}

static void read_heap(const struct perfdata *perf, struct figures *f)
{
	f->used = f->committed = -1;
	for (int generation = 0; generation < 2; generation++) {
		for (int i = 0; i < SPACES_MAX / 2; i++) {
			struct space *space = &f->spaces[f->n_spaces];

			if (!read_space(perf, generation, i, space))
				continue;
			f->used = add(f->used, space->used);
			f->committed = add(f->committed, space->committed);
			f->n_spaces++;
		}
	}
	f->metaspace_used = number_of(perf, "sun.gc.metaspace.used");
	f->metaspace_committed = number_of(perf, "sun.gc.metaspace.capacity");
	if (f->metaspace_committed <= 0) /* never without any: it was not published yet */
		f->metaspace_used = f->metaspace_committed = -1;
}

/* Not every number is taken: ZGC begins with 2 up to JDK 21, and has no 1 later. */
static void read_collectors(const struct perfdata *perf, struct figures *f)
{
	char name[96];

	for (int i = 0; i < COLLECTORS_MAX; i++) {
		struct collector *c = &f->collectors[f->n_collectors];

		c->name = perfdata_words(perf, name_of(name, "sun.gc.collector.%d.name", i));
		c->count = number_of(perf, name_of(name, "sun.gc.collector.%d.invocations", i));
		c->seconds = seconds_of(perf, name_of(name, "sun.gc.collector.%d.time", i));
		f->n_collectors += c->name != NULL;
	}
	f->cause = perfdata_words(perf, "sun.gc.cause");
	f->last_cause = perfdata_words(perf, "sun.gc.lastCause");
}

void figures_read(const struct perfdata *perf, struct figures *f)
{
	*f = (struct figures){
		.release = perfdata_words(perf, "java.property.java.vm.version"),
		.vendor = perfdata_words(perf, "java.property.java.vm.vendor"),
		.mode = perfdata_words(perf, "java.property.java.vm.info"),
		.home = perfdata_words(perf, "java.property.java.home"),
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
	read_heap(perf, f);
	read_collectors(perf, f);
}
