/*
 * The tables of the JDK's jstat: its columns, and how each is reckoned from the JVM's counters
 * (src/jdk.jcmd/share/classes/sun/tools/jstat/resources/jstat_options).
 *
 * The jstats of JDK 17 to 27 agree in every column and every width, and so do those of 8 and 11
 * but for narrower columns; 8 has no CGC and CGCT, which no JVM of that version counts.  So
 * there is one set of columns for all JVMs.
 */
#ifndef JTOOL_MODEL_JSTAT_H
#define JTOOL_MODEL_JSTAT_H

#include <stddef.h>

#include "model/readings.h"

enum jstat_group { JSTAT_GCUTIL, JSTAT_GC, JSTAT_CLASS, JSTAT_COMPILER };

enum jstat_kind {
	JSTAT_PERCENT, /* of the first counter, that the second one is */
	JSTAT_KILO,    /* the sum of the counters, in KB */
	JSTAT_COUNT,   /* their sum */
	JSTAT_SECONDS, /* their sum, which is in ticks */
	JSTAT_TOTAL,   /* the same, where counters that are missing count as 0 */
	JSTAT_TEXT,
};

struct jstat_column {
	const char *heading;
	enum jstat_kind kind;
	int width, decimals;
	const char *counters[3]; /* NULL: no more */
	const char *key;         /* NULL: the heading; both Bytes of JSTAT_CLASS need names */
};

/* Ends with a column without a heading. */
const struct jstat_column *jstat_columns(enum jstat_group group);
const char *jstat_key(const struct jstat_column *column);

/* NAN where jstat shows a dash: the collector counts no such thing, or not yet. */
double jstat_number(const struct jstat_column *column, const struct readings *r);
/* Of JSTAT_TEXT; NULL for a dash.  The readings'. */
const char *jstat_text(const struct jstat_column *column, const struct readings *r);

/*
 * Seconds since the start of the VM, at now_ms since 1970: jstat's Timestamp.  NAN when it
 * cannot be told.
 */
double jstat_timestamp(const struct readings *r, double now_ms);

#endif
