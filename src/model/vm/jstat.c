#include "model/vm/jstat.h"

#include <math.h>

/* Counter names. */
#define SPACE(generation, space, what) "sun.gc.generation." #generation ".space." #space "." #what
#define METASPACE(what) "sun.gc.metaspace." #what
#define CLASS_SPACE(what) "sun.gc.compressedclassspace." #what
#define COLLECTOR(n, what) "sun.gc.collector." #n "." #what

/* Widths exclude the space between columns. */
#define COLLECTIONS \
	{ "YGC", JSTAT_COUNT, 6, 0, { COLLECTOR(0, invocations) }, NULL }, \
	{ "YGCT", JSTAT_SECONDS, 9, 3, { COLLECTOR(0, time) }, NULL }, \
	{ "FGC", JSTAT_COUNT, 5, 0, { COLLECTOR(1, invocations) }, NULL }, \
	{ "FGCT", JSTAT_SECONDS, 9, 3, { COLLECTOR(1, time) }, NULL }, \
	{ "CGC", JSTAT_COUNT, 5, 0, { COLLECTOR(2, invocations) }, NULL }, \
	{ "CGCT", JSTAT_SECONDS, 9, 3, { COLLECTOR(2, time) }, NULL }, \
	{ "GCT", JSTAT_TOTAL, 9, 3, \
	  { COLLECTOR(0, time), COLLECTOR(1, time), COLLECTOR(2, time) }, NULL }

#define END { NULL, JSTAT_COUNT, 0, 0, { NULL }, NULL }

/* clang-format off */
static const struct jstat_column gcutil[] = {
	{ "S0",  JSTAT_PERCENT, 6, 2, { SPACE(0, 1, capacity), SPACE(0, 1, used) }, NULL },
	{ "S1",  JSTAT_PERCENT, 6, 2, { SPACE(0, 2, capacity), SPACE(0, 2, used) }, NULL },
	{ "E",   JSTAT_PERCENT, 6, 2, { SPACE(0, 0, capacity), SPACE(0, 0, used) }, NULL },
	{ "O",   JSTAT_PERCENT, 6, 2, { SPACE(1, 0, capacity), SPACE(1, 0, used) }, NULL },
	{ "M",   JSTAT_PERCENT, 6, 2, { METASPACE(capacity), METASPACE(used) }, NULL },
	{ "CCS", JSTAT_PERCENT, 6, 2, { CLASS_SPACE(capacity), CLASS_SPACE(used) }, NULL },
	COLLECTIONS,
	END,
};

static const struct jstat_column gc[] = {
	{ "S0C",  JSTAT_KILO, 11, 1, { SPACE(0, 1, capacity) }, NULL },
	{ "S1C",  JSTAT_KILO, 11, 1, { SPACE(0, 2, capacity) }, NULL },
	{ "S0U",  JSTAT_KILO, 11, 1, { SPACE(0, 1, used) }, NULL },
	{ "S1U",  JSTAT_KILO, 11, 1, { SPACE(0, 2, used) }, NULL },
	{ "EC",   JSTAT_KILO, 12, 1, { SPACE(0, 0, capacity) }, NULL },
	{ "EU",   JSTAT_KILO, 12, 1, { SPACE(0, 0, used) }, NULL },
	{ "OC",   JSTAT_KILO, 12, 1, { SPACE(1, 0, capacity) }, NULL },
	{ "OU",   JSTAT_KILO, 12, 1, { SPACE(1, 0, used) }, NULL },
	{ "MC",   JSTAT_KILO, 10, 1, { METASPACE(capacity) }, NULL },
	{ "MU",   JSTAT_KILO, 10, 1, { METASPACE(used) }, NULL },
	{ "CCSC", JSTAT_KILO,  9, 1, { CLASS_SPACE(capacity) }, NULL },
	{ "CCSU", JSTAT_KILO,  9, 1, { CLASS_SPACE(used) }, NULL },
	COLLECTIONS,
	END,
};

static const struct jstat_column class[] = {
	{ "Loaded",   JSTAT_COUNT,    6, 0,
	  { "java.cls.loadedClasses", "java.cls.sharedLoadedClasses" }, NULL },
	{ "Bytes",    JSTAT_KILO,     7, 1,
	  { "sun.cls.loadedBytes", "sun.cls.sharedLoadedBytes" }, NULL },
	{ "Unloaded", JSTAT_COUNT,    8, 0,
	  { "java.cls.unloadedClasses", "java.cls.sharedUnloadedClasses" }, NULL },
	{ "Bytes",    JSTAT_KILO,     7, 1,
	  { "sun.cls.unloadedBytes", "sun.cls.sharedUnloadedBytes" }, "UnloadedBytes" },
	{ "Time",     JSTAT_SECONDS, 10, 2, { "sun.cls.time" }, NULL },
	END,
};

static const struct jstat_column compiler[] = {
	{ "Compiled",     JSTAT_COUNT,    8, 0, { "sun.ci.totalCompiles" }, NULL },
	{ "Failed",       JSTAT_COUNT,    6, 0, { "sun.ci.totalBailouts" }, NULL },
	{ "Invalid",      JSTAT_COUNT,    7, 0, { "sun.ci.totalInvalidates" }, NULL },
	{ "Time",         JSTAT_SECONDS,  8, 2, { "java.ci.totalTime" }, NULL },
	{ "FailedType",   JSTAT_COUNT,   10, 0, { "sun.ci.lastFailedType" }, NULL },
	{ "FailedMethod", JSTAT_TEXT,    12, 0, { "sun.ci.lastFailedMethod" }, NULL },
	END,
};
/* clang-format on */

const struct jstat_column *jstat_columns(enum jstat_group group)
{
	static const struct jstat_column *const groups[] = {
		[JSTAT_GCUTIL] = gcutil,
		[JSTAT_GC] = gc,
		[JSTAT_CLASS] = class,
		[JSTAT_COMPILER] = compiler,
	};

	return groups[group];
}

const char *jstat_key(const struct jstat_column *column)
{
	return column->key ? column->key : column->heading;
}

static double sum(const struct jstat_column *column, const struct counter_source *r, double missing)
{
	double total = 0;

	for (size_t i = 0; i < 3 && column->counters[i]; i++) {
		double n = counter_number(r, column->counters[i]);

		total += isnan(n) ? missing : n;
	}
	return total;
}

/* Computes with the same operations as jstat, so that rounding is the same. */
static double percent(double capacity, double used)
{
	return (1 - (capacity - used) / capacity) * 100;
}

static double compute(const struct jstat_column *column, const struct counter_source *r)
{
	double ticks = counter_number(r, "sun.os.hrt.frequency");

	switch (column->kind) {
	case JSTAT_PERCENT:
		return percent(counter_number(r, column->counters[0]),
			       counter_number(r, column->counters[1]));
	case JSTAT_KILO:
		return sum(column, r, NAN) / 1024;
	case JSTAT_COUNT:
		return sum(column, r, NAN);
	case JSTAT_SECONDS:
		return sum(column, r, NAN) / ticks;
	case JSTAT_TOTAL:
		return sum(column, r, 0) / ticks;
	case JSTAT_TEXT:
		break;
	}
	return NAN;
}

double jstat_number(const struct jstat_column *column, const struct counter_source *r)
{
	double n = compute(column, r);

	return isfinite(n) ? n : NAN; /* infinite or NAN if the capacity is 0 */
}

const char *jstat_text(const struct jstat_column *column, const struct counter_source *r)
{
	return counter_text(r, column->counters[0]);
}

/*
 * Uses the JVM's clock if the JVM publishes it (JDK 21 does, every 50 ms; JDK 25 does not), else
 * the time of day at which the VM was created.
 */
double jstat_timestamp(const struct counter_source *r, double now_ms)
{
	double ticks = counter_seconds(r, "sun.os.hrt.ticks");
	double began_ms = counter_number(r, "sun.rt.createVmBeginTime");
	double since = (now_ms - began_ms) / 1000;

	if (isfinite(ticks))
		return ticks;
	return began_ms > 0 && since >= 0 ? since : NAN;
}
