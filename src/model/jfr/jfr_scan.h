/* Passes all events of a recording to a consumer, and counts them. */
#ifndef JTOOL_MODEL_JFR_JFR_SCAN_H
#define JTOOL_MODEL_JFR_JFR_SCAN_H

#include "model/jfr/jfr_reader.h"

struct jfr_consumer {
	void *arg;
	/*
	 * Called when a chunk begins; may be NULL.  The function can look up types and paths in the
	 * chunk's metadata, and set the member `user` of the types.
	 */
	void (*begin)(void *arg, const struct jfr_chunk *chunk);
	/*
	 * Called for each event.  Must return 0 to go on; 1 if no more events are needed; or -1
	 * with err set.
	 */
	int (*event)(void *arg, const struct jfr_event *e, struct err *err);
	/* Called at the end of a chunk, before the chunk's constants are freed; may be NULL. */
	void (*end)(void *arg, const struct jfr_chunk *chunk);
	/* only events that begin at this time or later are passed; INT64_MIN: all events */
	int64_t from_ns;
	bool all_types;  /* events whose type is not declared as an event type are passed, too */
};

/*
 * Calls the functions of `c` for all chunks and events.  Returns 0; or -1 with err set if the
 * recording cannot be read or c->event() has returned -1.  After 0, jfr_problems() says which parts
 * of the recording were not read.
 */
int jfr_scan(struct jfr_reader *r, const struct jfr_consumer *c, struct err *err) _must_check_;

/* Returns the time at which an event begins, in ns since the epoch; INT64_MIN if it has no time. */
int64_t jfr_event_time(const struct jfr_event *e);

struct jfr_type_count {
	char *name;
	char *label; /* text of the annotation Label; NULL: none */
	uint64_t count, bytes;
};

#define JFR_OTHER_TYPES "(other event types)"

struct jfr_summary {
	/*
	 * in descending order of counts: all declared event types, and one type for each type id
	 * that an event has but the recording does not declare; if these are very many, the rest of
	 * them is the one row JFR_OTHER_TYPES
	 */
	struct jfr_type_count *types;
	size_t n, cap;
	unsigned chunks;
	uint16_t major, minor;
	int64_t start_ns, duration_ns;
	/* end of the last complete chunk; or start of the last event in an open chunk, if later */
	int64_t end_ns;
};

/* Counts by type the events that begin at from_ns or later; INT64_MIN: all events. */
int jfr_summary_read(struct jfr_reader *r, int64_t from_ns, struct jfr_summary *s, struct err *err)
	_must_check_;
void jfr_summary_release(struct jfr_summary *s);

#endif
