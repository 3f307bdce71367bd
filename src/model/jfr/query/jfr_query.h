/*
 * Tables from the events of a recording: groups of events with counts, sums, percentiles and so on.
 * A query is a constant (jfr_views.h); several run in one pass over the recording.
 *
 * A value that is a constant of the recording, such as a class or a stack trace, is read once a
 * chunk, so that an event costs a few look-ups.
 */
#ifndef JTOOL_MODEL_JFR_QUERY_JFR_QUERY_H
#define JTOOL_MODEL_JFR_QUERY_JFR_QUERY_H

#include "base/intern.h"
#include "model/jfr/jfr_scan.h"

#define JFR_COLUMNS_MAX 12
#define JFR_SOURCES_MAX 16
#define JFR_GROUP_MAX 2

enum jfr_aggregate {
	JFR_ANY, /* the last value that is not null */
	JFR_FIRST,
	JFR_LAST,
	JFR_LATEST, /* as JFR_LAST; only groups with the time of the very last event have a row */
	JFR_SUM_OF,
	JFR_COUNT_OF,
	JFR_UNIQUE,
	JFR_LEAST,
	JFR_GREATEST,
	JFR_MEAN,
	JFR_MEDIAN,
	JFR_P90,
	JFR_P95,
	JFR_P99,
	JFR_P999,
	JFR_DIFFERENCE, /* of the last and the first */
};

struct jfr_query_column {
	const char *key; /* in JSON; its words are the heading */
	/*
	 * "field.field" of all sources that have it, or "AB:field" of the sources A and B.  Also
	 * "*", for counts; "eventType.label"; "stackTrace.topFrame", ".topApplicationFrame" (not of
	 * the JVM's own class loader), ".topNotInitFrame" (not a constructor).
	 */
	const char *path;
	enum jfr_aggregate aggregate;
	bool is_share; /* of the sum of all rows */
};

struct jfr_query_source {
	const char *event; /* "jdk.CPULoad"; NULL: every type */
	char alias;        /* 0: none */
	const char *field, *value; /* only events whose field is this text; NULL: all */
};

struct jfr_query {
	const char *name; /* of the view */
	const char *other_name; /* NULL: none */
	const char *title;
	bool is_form; /* one row, printed as lines */
	struct jfr_query_source sources[JFR_SOURCES_MAX]; /* up to the first that is all zero */
	const char *group[JFR_GROUP_MAX]; /* paths; none: a row for each event, or one for a form */
	struct jfr_query_column columns[JFR_COLUMNS_MAX]; /* key NULL ends them */
	/* Column numbers from 1, negative for descending; 0: none. */
	int order[2];
	unsigned limit; /* rows in text; 0: all */
	const struct jfr_query *instead; /* if there are no such events; NULL: nothing */
};

enum jfr_cell_kind {
	JFR_CELL_NONE,
	JFR_CELL_INTEGER,
	JFR_CELL_REAL,
	JFR_CELL_TRUTH,
	JFR_CELL_TEXT,
};

struct jfr_cell {
	enum jfr_cell_kind kind;
	enum jfr_content content; /* timestamps: ns since the epoch; time spans: ns */
	bool is_rate;
	bool is_unlimited; /* "for ever" */
	union {
		int64_t integer;
		double real;
		uint32_t text; /* number in the query's texts */
	};
};

struct jfr_query_run;

/* The queries of one pass.  max_memory: bytes for results; 0: no limit. */
struct jfr_queries;
struct jfr_queries *jfr_queries_new(size_t max_memory);
void jfr_queries_free(struct jfr_queries *q); /* NULL is allowed; also frees the runs */
struct jfr_query_run *jfr_queries_add(struct jfr_queries *q, const struct jfr_query *query);
/* Reads the recording from `from_ns` on; see struct jfr_consumer. */
int jfr_queries_run(struct jfr_queries *q, struct jfr_reader *r, int64_t from_ns, struct err *err)
	_must_check_;

/* What was read; the duration is the sum of the chunks', without gaps. */
struct jfr_extent {
	int64_t start_ns, duration_ns;
	uint64_t events;
	unsigned chunks;
};
const struct jfr_extent *jfr_queries_extent(const struct jfr_queries *q);

/* The results, sorted. */
size_t jfr_query_n_columns(const struct jfr_query *query);
size_t jfr_query_rows(const struct jfr_query_run *run);
struct jfr_cell jfr_query_cell(const struct jfr_query_run *run, size_t row, size_t column);
/* Returns the text of a cell, valid until the queries are freed. */
const char *jfr_query_text(const struct jfr_query_run *run, const struct jfr_cell *cell);
/* Returns the number of events that contributed. */
uint64_t jfr_query_events(const struct jfr_query_run *run);
/* Whether the recording declares one of the event types. */
bool jfr_query_is_known(const struct jfr_query_run *run);

#endif
