#include "model/vm/jstat.h"

/* Names of counters. */
#define GENERATION(n, what) "sun.gc.generation." #n "." #what
#define EDEN(what) "sun.gc.generation.0.space.0." #what
#define SURVIVOR(n, what) "sun.gc.generation.0.space." #n "." #what
#define OLD(what) "sun.gc.generation.1.space.0." #what
#define METASPACE(what) "sun.gc.metaspace." #what
#define CLASS_SPACE(what) "sun.gc.compressedclassspace." #what
#define COLLECTOR(n, what) "sun.gc.collector." #n "." #what

/* Columns by kind of value.  `width` does not include the space between columns. */
#define KILO(heading, width, counter) { heading, JSTAT_KILO, width, 1, false, { counter }, NULL }
#define COUNT(heading, width, counter) { heading, JSTAT_COUNT, width, 0, false, { counter }, NULL }
#define SECONDS(heading, width, decimals, counter) \
	{ heading, JSTAT_SECONDS, width, decimals, false, { counter }, NULL }
#define TEXT(heading, width, counter) { heading, JSTAT_TEXT, width, 0, true, { counter }, NULL }
#define USE(heading, space) \
	{ heading, JSTAT_PERCENT, 6, 2, false, { space(capacity), space(used) }, NULL }
#define END { NULL, JSTAT_COUNT, 0, 0, false, { NULL }, NULL }

/* clang-format off */
#define SURVIVOR_1(what) SURVIVOR(1, what)
#define SURVIVOR_2(what) SURVIVOR(2, what)
#define S0C  KILO("S0C", 11, SURVIVOR(1, capacity))
#define S1C  KILO("S1C", 11, SURVIVOR(2, capacity))
#define S0U  KILO("S0U", 11, SURVIVOR(1, used))
#define S1U  KILO("S1U", 11, SURVIVOR(2, used))
#define EC   KILO("EC", 12, EDEN(capacity))
#define EU   KILO("EU", 12, EDEN(used))
#define OC   KILO("OC", 12, OLD(capacity))
#define OU   KILO("OU", 12, OLD(used))
#define MC   KILO("MC", 10, METASPACE(capacity))
#define MU   KILO("MU", 10, METASPACE(used))
#define CCSC KILO("CCSC", 9, CLASS_SPACE(capacity))
#define CCSU KILO("CCSU", 9, CLASS_SPACE(used))
#define YGC  COUNT("YGC", 6, COLLECTOR(0, invocations))
#define FGC  COUNT("FGC", 5, COLLECTOR(1, invocations))
#define CGC  COUNT("CGC", 5, COLLECTOR(2, invocations))
#define YGCT SECONDS("YGCT", 9, 3, COLLECTOR(0, time))
#define FGCT SECONDS("FGCT", 9, 3, COLLECTOR(1, time))
#define CGCT SECONDS("CGCT", 9, 3, COLLECTOR(2, time))
#define GCT \
	{ "GCT", JSTAT_TOTAL, 9, 3, false, \
	  { COLLECTOR(0, time), COLLECTOR(1, time), COLLECTOR(2, time) }, NULL }

#define NEW_LIMITS \
	KILO("NGCMN", 12, GENERATION(0, minCapacity)), \
	KILO("NGCMX", 12, GENERATION(0, maxCapacity)), \
	KILO("NGC", 12, GENERATION(0, capacity))
#define OLD_LIMITS \
	KILO("OGCMN", 12, GENERATION(1, minCapacity)), \
	KILO("OGCMX", 12, GENERATION(1, maxCapacity)), \
	KILO("OGC", 12, GENERATION(1, capacity)), OC
#define METASPACE_LIMITS \
	KILO("MCMN", 10, METASPACE(minCapacity)), \
	KILO("MCMX", 10, METASPACE(maxCapacity)), MC, \
	KILO("CCSMN", 9, CLASS_SPACE(minCapacity)), \
	KILO("CCSMX", 9, CLASS_SPACE(maxCapacity)), CCSC

#define COLLECTIONS YGC, YGCT, FGC, FGCT, CGC, CGCT, GCT
#define COUNTS YGC, FGC, CGC
#define OLD_COLLECTIONS YGC, FGC, FGCT, CGC, CGCT, GCT
#define USES \
	USE("S0", SURVIVOR_1), USE("S1", SURVIVOR_2), USE("E", EDEN), USE("O", OLD), \
	USE("M", METASPACE), USE("CCS", CLASS_SPACE)
#define COMPILED COUNT("Compiled", 8, "sun.ci.totalCompiles")

static const struct jstat_column class[] = {
	{ "Loaded", JSTAT_COUNT, 6, 0, false,
	  { "java.cls.loadedClasses", "java.cls.sharedLoadedClasses" }, NULL },
	{ "Bytes", JSTAT_KILO, 7, 1, false,
	  { "sun.cls.loadedBytes", "sun.cls.sharedLoadedBytes" }, NULL },
	{ "Unloaded", JSTAT_COUNT, 8, 0, false,
	  { "java.cls.unloadedClasses", "java.cls.sharedUnloadedClasses" }, NULL },
	{ "Bytes", JSTAT_KILO, 7, 1, false,
	  { "sun.cls.unloadedBytes", "sun.cls.sharedUnloadedBytes" }, "UnloadedBytes" },
	SECONDS("Time", 10, 2, "sun.cls.time"),
	END,
};

static const struct jstat_column compiler[] = {
	COMPILED,
	COUNT("Failed", 6, "sun.ci.totalBailouts"),
	COUNT("Invalid", 7, "sun.ci.totalInvalidates"),
	SECONDS("Time", 8, 2, "java.ci.totalTime"),
	COUNT("FailedType", 10, "sun.ci.lastFailedType"),
	TEXT("FailedMethod", 12, "sun.ci.lastFailedMethod"),
	END,
};

static const struct jstat_column printcompilation[] = {
	COMPILED,
	COUNT("Size", 6, "sun.ci.lastSize"),
	COUNT("Type", 4, "sun.ci.lastType"),
	TEXT("Method", 6, "sun.ci.lastMethod"),
	END,
};

static const struct jstat_column gc[] = {
	S0C, S1C, S0U, S1U, EC, EU, OC, OU, MC, MU, CCSC, CCSU, COLLECTIONS, END,
};

static const struct jstat_column gccapacity[] = {
	NEW_LIMITS, S0C,
	/* This is the only column of numbers whose heading jstat does not center. */
	{ "S1C", JSTAT_KILO, 11, 1, true, { SURVIVOR(2, capacity) }, NULL },
	EC, OLD_LIMITS, METASPACE_LIMITS, COUNTS, END,
};

static const struct jstat_column gccause[] = {
	USES, COLLECTIONS,
	TEXT("LGCC", 20, "sun.gc.lastCause"),
	TEXT("GCC", 20, "sun.gc.cause"),
	END,
};

static const struct jstat_column gcmetacapacity[] = { METASPACE_LIMITS, OLD_COLLECTIONS, END };

static const struct jstat_column gcnew[] = {
	S0C, S1C, S0U, S1U,
	COUNT("TT", 2, "sun.gc.policy.tenuringThreshold"),
	COUNT("MTT", 3, "sun.gc.policy.maxTenuringThreshold"),
	KILO("DSS", 11, "sun.gc.policy.desiredSurvivorSize"),
	EC, EU, YGC, YGCT, END,
};

static const struct jstat_column gcnewcapacity[] = {
	NEW_LIMITS,
	KILO("S0CMX", 11, SURVIVOR(1, maxCapacity)), S0C,
	KILO("S1CMX", 11, SURVIVOR(2, maxCapacity)), S1C,
	KILO("ECMX", 12, EDEN(maxCapacity)), EC,
	COUNTS, END,
};

static const struct jstat_column gcold[] = { MC, MU, CCSC, CCSU, OC, OU, OLD_COLLECTIONS, END };
static const struct jstat_column gcoldcapacity[] = { OLD_LIMITS, OLD_COLLECTIONS, END };
static const struct jstat_column gcutil[] = { USES, COLLECTIONS, END };
/* clang-format on */

#define JSTAT_TABLE(name) #name,
const char *const jstat_tables[] = {
#include "model/vm/jstat_names.def"
	NULL,
};
#undef JSTAT_TABLE

const struct jstat_column *jstat_columns(enum jstat_table table)
{
#define JSTAT_TABLE(name) name,
	static const struct jstat_column *const tables[] = {
#include "model/vm/jstat_names.def"
	};
#undef JSTAT_TABLE

	return tables[table];
}

const char *jstat_key(const struct jstat_column *column)
{
	return column->key ? column->key : column->heading;
}
