/*
 * Tables that are computed from the events of a recording: events are grouped, each group is a row,
 * and a column has a value of the group, such as the number of events, a sum or a percentile.
 * jfr_views.h has the queries of the views; several queries run in one pass over the recording.
 *
 * A value that is in the recording's constant pools, such as a class or a stack trace, is read once
 * for each chunk, so that an event costs only a few look-ups.
 */
#ifndef JTOOL_MODEL_JFR_QUERY_JFR_QUERY_H
#define JTOOL_MODEL_JFR_QUERY_JFR_QUERY_H

#include "base/intern.h"
#include "model/jfr/jfr_scan.h"

#define JFR_COLUMNS_MAX 12
#define JFR_GROUP_MAX 2

enum jfr_aggregate {
	JFR_ANY, /* the last value that is not null */
	JFR_FIRST,
	JFR_LAST,
	/*
	 * As JFR_LAST, but removes each row whose last event is older than the newest event of all
	 * rows
	 */
	JFR_LATEST,
	JFR_SUM_OF,
	JFR_COUNT_OF,
	JFR_UNIQUE, /* the number of different values */
	JFR_LEAST,
	JFR_GREATEST,
	JFR_MEAN,
	JFR_MEDIAN,
	JFR_P90,
	JFR_P95,
	JFR_P99,
	JFR_P999,
	JFR_DIFFERENCE, /* the last value minus the first */
};

struct jfr_query_column {
	const char *key; /* key in JSON; in text, the words of the key are the column's heading */
	/*
	 * The path of the value:
	 *   "field" or "field.field": the field of this name, of all sources that have it;
	 *   "AB:field": the field of this name, of the sources with the aliases A and B;
	 *   "*": the number of events;
	 *   "eventType.label": the label of the event's type;
	 *   "stackTrace.topFrame": the top frame of the stack;
	 *   "stackTrace.topApplicationFrame": the first frame whose class was defined by another
	 *   loader than the bootstrap loader;
	 *   "stackTrace.topNotInitFrame": the first frame that is not a constructor.
	 */
	const char *path;
	enum jfr_aggregate aggregate;
	bool is_share; /* show the value as a share of the column's sum over all rows */
};

struct jfr_query_source {
	const char *event; /* event type such as "jdk.CPULoad"; NULL: every type */
	char alias;        /* letter for the source in paths; 0: none */
	const char *field, *value; /* only events whose `field` has the text `value`; NULL: all */
};

struct jfr_query {
	const char *name; /* name of the view */
	const char *other_name; /* a second name; NULL: none */
	const char *title;
	const struct jfr_query_source *sources; /* set by JFR_SOURCES(), with n_sources */
	/*
	 * Events that have equal values in these paths are grouped into one row.  Without paths,
	 * each event is a row; but if is_form is set, all events together are one row.
	 */
	const char *group[JFR_GROUP_MAX];
	const struct jfr_query_column *columns; /* set by JFR_COLUMNS(), with n_columns */
	unsigned char n_sources, n_columns;
	bool is_form; /* the result is one row, which is printed with one line per column */
	bool is_unlisted; /* not in the list of views: only the `instead` of another one */
	/*
	 * Numbers, from 1, of the columns by which rows are sorted; negative: in descending order;
	 * 0: no column.
	 */
	signed char order[2];
	unsigned short limit; /* maximum number of rows that are printed as text; 0: all */
	/* query to use if the recording has no events of the sources; NULL: none */
	const struct jfr_query *instead;
};

/*
 * JFR_SOURCES({ ... }, ...) and JFR_COLUMNS({ ... }, ...) initialise the lists of a constant query.
 * More columns than JFR_COLUMNS_MAX do not compile.
 */
#define JFR_SOURCES(...) \
	.sources = (const struct jfr_query_source[]){ __VA_ARGS__ }, \
	.n_sources = sizeof((const struct jfr_query_source[]){ __VA_ARGS__ }) / \
		     sizeof(struct jfr_query_source)
#define JFR_COLUMNS(...) \
	.columns = (const struct jfr_query_column[]){ __VA_ARGS__ }, \
	.n_columns = JFR_CHECKED_COUNT(sizeof((const struct jfr_query_column[]){ __VA_ARGS__ }) / \
				       sizeof(struct jfr_query_column))
/* Evaluates to n; does not compile if n is too large, because then an array has a negative size. */
#define JFR_CHECKED_COUNT(n) ((n) + 0 * sizeof(char[(n) <= JFR_COLUMNS_MAX ? 1 : -1]))

enum jfr_cell_kind {
	JFR_CELL_NONE,
	JFR_CELL_INTEGER,
	JFR_CELL_REAL,
	JFR_CELL_TRUTH,
	JFR_CELL_TEXT,
};

struct jfr_cell {
	enum jfr_cell_kind kind;
	/* meaning of a number; timestamps are ns since the epoch, time spans are ns */
	enum jfr_content content;
	bool is_rate;
	bool is_unlimited; /* the value means "for ever" */
	union {
		int64_t integer;
		double real;
		uint32_t text; /* to be read with jfr_query_text() */
	};
};

struct jfr_query_run;

/*
 * The queries of one pass.  `max_memory` limits the bytes of the rows, of their texts, and of the
 * values for percentiles and JFR_UNIQUE; 0: no limit.
 */
struct jfr_queries;
struct jfr_queries *jfr_queries_new(size_t max_memory);
void jfr_queries_free(struct jfr_queries *q); /* NULL is allowed; also frees the runs */
struct jfr_query_run *jfr_queries_add(struct jfr_queries *q, const struct jfr_query *query);
/*
 * Runs the queries on the events that begin at from_ns or later (INT64_MIN: on all events).
 * Returns 0, or -1 with err set.
 */
int jfr_queries_run(struct jfr_queries *q, struct jfr_reader *r, int64_t from_ns, struct err *err)
	_must_check_;

/*
 * The part of the recording that was read.  The duration is the sum of the chunks' durations,
 * without the gaps between chunks.
 */
struct jfr_extent {
	int64_t start_ns, duration_ns;
	uint64_t events;
	unsigned chunks;
};
const struct jfr_extent *jfr_queries_extent(const struct jfr_queries *q);

/*
 * Return the number of rows of a query's result, and one cell.  The rows are sorted as
 * jfr_query.order requires.
 */
size_t jfr_query_rows(const struct jfr_query_run *run);
struct jfr_cell jfr_query_cell(const struct jfr_query_run *run, size_t row, size_t column);
/* Returns the text of a cell, valid until the queries are freed. */
const char *jfr_query_text(const struct jfr_query_run *run, const struct jfr_cell *cell);
/* Returns the number of events that the query has used. */
uint64_t jfr_query_events(const struct jfr_query_run *run);
/* Returns whether the recording declares one of the query's event types. */
bool jfr_query_is_known(const struct jfr_query_run *run);

#endif
