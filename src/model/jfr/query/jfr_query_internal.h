/* Declarations that the files which implement jfr_query.h share. */
#ifndef JTOOL_MODEL_JFR_QUERY_JFR_QUERY_INTERNAL_H
#define JTOOL_MODEL_JFR_QUERY_JFR_QUERY_INTERNAL_H

#include "model/jfr/jfr_datum.h"
#include "model/jfr/query/jfr_query.h"

/* The value of a column in one group, while events are added. */
struct jfr_sum {
	struct jfr_cell cell, first;
	uint64_t count;
	double total;
	int64_t integers; /* sum of the integers; after an overflow INT64_MAX or INT64_MIN */
	int64_t time, first_time; /* times of the events that `cell` and `first` come from */
	/*
	 * for percentiles: the value of each event; for JFR_UNIQUE: for each event, the number that
	 * its value has in run->groups
	 */
	double *values;
	size_t n, cap;
};

/* How the value at a path is computed from the events of one type. */
enum jfr_getter_kind {
	JFR_GET_NOTHING, /* the type has no such field */
	JFR_GET_PATH,
	JFR_GET_EVENT,   /* the path is "*": events are only counted */
	JFR_GET_LABEL,
	JFR_GET_SETTING_TYPE, /* the field has the id of an event type; the value is its label */
	JFR_GET_TOP,
	JFR_GET_TOP_APPLICATION,
	JFR_GET_TOP_NOT_INIT,
};

struct jfr_seen {
	struct jfr_cell cell;
	uint32_t group;
};

struct jfr_getter {
	enum jfr_getter_kind kind;
	struct jfr_path path;
	/* the path begins in a constant pool: read the value only once for each key of the pool */
	bool is_constant;
	/* the query groups by this path: a JFR_ANY column reads it once for each group */
	bool is_group;
	bool has_group; /* jfr_getter_read() must compute *group */
	struct id_map seen_keys;
	struct jfr_seen *seen;
	size_t n, cap;
};

/* The values that a query reads from the events of one type in the current chunk. */
struct jfr_binding {
	struct jfr_query_run *run;
	unsigned source;
	uint32_t next; /* index in jfr_queries.bindings of the type's next binding; 0: none */
	struct jfr_getter condition;
	struct jfr_getter group[JFR_GROUP_MAX];
	struct jfr_getter columns[JFR_COLUMNS_MAX];
};

struct jfr_query_run {
	const struct jfr_query *query;
	struct jfr_queries *owner;
	size_t n_columns, n_group;
	struct jfr_sum *sums; /* n_columns sums for each row */
	size_t n_rows, cap;
	struct jfr_cell *cells; /* the results: n_columns cells for each row */
	uint32_t *order;  /* numbers of the rows in `cells`, in the order of the output */
	struct id_map rows;
	struct intern texts, groups;
	uint64_t events;
	int64_t last_time[JFR_COLUMNS_MAX]; /* of a JFR_LATEST column: time of its latest event */
	double share_sums[JFR_COLUMNS_MAX];
	bool is_known;
};

struct jfr_queries {
	struct jfr_query_run **runs;
	size_t n, cap;
	struct jfr_binding *bindings; /* bindings for the current chunk; bindings[0] is unused */
	size_t n_bindings, cap_bindings;
	size_t max_memory, used;
	size_t used_by_chunk; /* memory of the getters, which are freed after the chunk */
	struct buf scratch;
	struct jfr_extent extent;
	bool skips; /* do not read events of types that no query uses, only count them */
};

/* Defined in jfr_query_get.c: */
void jfr_getter_bind(struct jfr_getter *g, const struct jfr_type *type, const char *path);
void jfr_getter_release(struct jfr_getter *g);
/*
 * Reads the getter's value from an event into *cell.  If g->has_group is true, also sets *group to
 * a number that identifies the value: equal values have equal numbers.
 */
void jfr_getter_read(struct jfr_getter *g, struct jfr_query_run *run, const struct jfr_event *e,
		     struct jfr_cell *cell, uint32_t *group);

/* Defined in jfr_query_sum.c: */
void jfr_sum_add(struct jfr_query_run *run, struct jfr_sum *s, unsigned column,
		 const struct jfr_cell *cell, uint32_t group, int64_t time);
struct jfr_cell jfr_sum_result(struct jfr_sum *s, enum jfr_aggregate aggregate);
/* Computes run->cells and run->order from run->sums, and frees run->sums. */
void jfr_query_finish(struct jfr_query_run *run);

#endif
