/*
 * The tables of jstat: their columns, and how the values are computed from the JVM's counters
 * (src/jdk.jcmd/share/classes/sun/tools/jstat/resources/jstat_options).
 *
 * The columns are the same for all JVMs: those of jstat in JDK 17 to 27.  The jstat of JDK 8 and 11
 * has narrower columns.  The jstat of JDK 8 lacks CGC and CGCT, which the JVM of JDK 8 does not
 * count.
 */
#ifndef JTOOL_MODEL_VM_JSTAT_H
#define JTOOL_MODEL_VM_JSTAT_H

#include <stdbool.h>
#include <stddef.h>

#include "model/vm/counter_source.h"

enum jstat_table {
#define JSTAT_TABLE(name) JSTAT_##name,
#include "model/vm/jstat_names.def"
#undef JSTAT_TABLE
};

/* The names of the tables in the order of the enum; NULL ends the list. */
extern const char *const jstat_tables[];

enum jstat_kind {
	JSTAT_PERCENT, /* the second counter in percent of the first: used in percent of capacity */
	JSTAT_KILO,    /* sum of the counters, in KB */
	JSTAT_COUNT,   /* sum of the counters */
	JSTAT_SECONDS, /* sum of the counters, converted from ticks */
	JSTAT_TOTAL,   /* as JSTAT_SECONDS, but a missing counter counts as 0 */
	JSTAT_TEXT,
};

struct jstat_column {
	const char *heading;
	enum jstat_kind kind;
	unsigned char width, decimals;
	bool left;               /* true: the heading is left-aligned; false: centered */
	const char *counters[3]; /* names of counters; NULL ends a list of fewer than 3 */
	const char *key;         /* key in JSON; NULL: the heading is the key */
};

/* Returns the columns of a table.  A column without a heading ends the list. */
const struct jstat_column *jstat_columns(enum jstat_table table);
const char *jstat_key(const struct jstat_column *column);

/*
 * Returns the value of a column.  Returns NAN where jstat shows a dash, because the counter is
 * missing or has no value yet.
 */
double jstat_number(const struct jstat_column *column, const struct counter_source *r);
/*
 * Returns the text of a JSTAT_TEXT column, or NULL where jstat shows a dash.  The counter source
 * `r` owns the text.
 */
const char *jstat_text(const struct jstat_column *column, const struct counter_source *r);

/*
 * Returns jstat's Timestamp: the seconds from the VM's start to the time `now_ms` (in ms since the
 * epoch).  Returns NAN if unknown.
 */
double jstat_timestamp(const struct counter_source *r, double now_ms);

#endif
