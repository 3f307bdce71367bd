/* Passes all events of a recording to a consumer, and counts them. */
#ifndef JTOOL_MODEL_JFR_JFR_SCAN_H
#define JTOOL_MODEL_JFR_JFR_SCAN_H

#include "model/jfr/jfr_reader.h"

struct jfr_consumer {
	void *arg;
	/* A chunk begins: look up types, set their `user`, look up paths. */
	void (*begin)(void *arg, const struct jfr_chunk *chunk);
	/* Returns 0; 1: no more events are needed; or -1 with err set. */
	int (*event)(void *arg, const struct jfr_event *e, struct err *err);
	/* The constants of the chunk are freed after this; may be NULL. */
	void (*end)(void *arg, const struct jfr_chunk *chunk);
	int64_t from_ns; /* only events that begin here or later; INT64_MIN: all */
	bool all_types;  /* also those whose type is not an event's, or is not declared */
};

/* Returns -1 with err set if the recording cannot be read; see also jfr_problems(). */
int jfr_scan(struct jfr_reader *r, const struct jfr_consumer *c, struct err *err) _must_check_;

/* Returns the time at which an event begins, in ns since the epoch; INT64_MIN: it has none. */
int64_t jfr_event_time(const struct jfr_event *e);

struct jfr_type_count {
	char *name;
	char *label; /* NULL: none */
	uint64_t count, bytes;
};

struct jfr_summary {
	struct jfr_type_count *types; /* all declared ones, the most frequent first */
	size_t n, cap;
	unsigned chunks;
	uint16_t major, minor;
	int64_t start_ns, duration_ns;
	int64_t end_ns; /* of the last event, or of the last complete chunk */
};

/* Counts the events from `from_ns` on; see struct jfr_consumer. */
int jfr_summary_read(struct jfr_reader *r, int64_t from_ns, struct jfr_summary *s, struct err *err)
	_must_check_;
void jfr_summary_release(struct jfr_summary *s);

#endif
