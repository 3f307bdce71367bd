/*
 * The tables of jstat: the columns, and how each is computed from the JVM's counters
 * (src/jdk.jcmd/share/classes/sun/tools/jstat/resources/jstat_options).
 *
 * One set of columns serves all JVMs: jstat of JDK 17 to 27 has the same columns and widths.  JDK 8
 * and 11 have narrower columns.  8 has no CGC and CGCT: its JVM does not count them.
 */
#ifndef JTOOL_MODEL_VM_JSTAT_H
#define JTOOL_MODEL_VM_JSTAT_H

#include <stdbool.h>
#include <stddef.h>

#include "model/vm/counter_source.h"

enum jstat_table {
#define JSTAT_TABLE(name) JSTAT_##name,
#include "model/vm/jstat_tables.def"
#undef JSTAT_TABLE
};

/* The names of the tables in the order of the enum; NULL ends the list. */
extern const char *const jstat_tables[];

enum jstat_kind {
	JSTAT_PERCENT, /* the second counter as a percentage of the first */
	JSTAT_KILO,    /* sum of the counters, in KB */
	JSTAT_COUNT,   /* sum of the counters */
	JSTAT_SECONDS, /* sum of the counters, converted from ticks */
	JSTAT_TOTAL,   /* JSTAT_SECONDS with missing counters as 0 */
	JSTAT_TEXT,
};

struct jstat_column {
	const char *heading;
	enum jstat_kind kind;
	int width, decimals;
	const char *counters[3]; /* NULL-terminated unless full */
	const char *key;         /* JSON key; NULL: the heading */
	bool left;               /* the heading is on the left of the column, not centered */
};

/* Returns the columns.  A column without a heading ends the list. */
const struct jstat_column *jstat_columns(enum jstat_table table);
const char *jstat_key(const struct jstat_column *column);

/* Returns a value, or NAN where jstat shows a dash: the counter is missing, or has no value yet. */
double jstat_number(const struct jstat_column *column, const struct counter_source *r);
/* Returns the text of a JSTAT_TEXT column, owned by the source, or NULL for a dash. */
const char *jstat_text(const struct jstat_column *column, const struct counter_source *r);

/* Returns jstat's Timestamp, the seconds from VM start to now_ms (since the epoch), or NAN. */
double jstat_timestamp(const struct counter_source *r, double now_ms);

#endif
