/*
 * Reads a flight recording: chunk by chunk, and in each chunk event by event, in the order of the
 * file.  A chunk describes its own events and constants (jfr_metadata.h), so that events of any
 * JDK, application or other recorder can be read.
 *
 *     while ((rc = jfr_next_chunk(r, err)) > 0) {
 *             look up types and paths in jfr_chunk_of(r)->metadata;
 *             while (jfr_next_event(r, &event))
 *                     jfr_get(&event, &path, &datum);
 *     }
 *
 * Memory holds the constants and types of one chunk, and one event.  The recording is untrusted:
 * any input gives events, or problems that say what was not read.
 */
#ifndef JTOOL_MODEL_JFR_JFR_READER_H
#define JTOOL_MODEL_JFR_JFR_READER_H

#include "base/err.h"
#include "model/jfr/jfr_chunks.h"
#include "model/jfr/jfr_metadata.h"

struct jfr_pools;

struct jfr_chunk {
	uint64_t at, end; /* of the file; end: of the complete events */
	unsigned number; /* from 1 */
	uint16_t major, minor;
	int64_t start_ns; /* since the epoch */
	int64_t duration_ns;
	int64_t start_ticks, ticks_per_second;
	bool compressed;
	bool is_open; /* the JVM was still writing it */
	bool is_cut; /* the file ends before the chunk does */
	struct jfr_metadata metadata;
	struct jfr_pools *pools;
	/* Ticks are relative to the first chunk of the same JVM, as the JDK's reader does. */
	int64_t base_ns, base_ticks;
};

struct jfr_event {
	struct jfr_type *type;
	const struct jfr_chunk *chunk;
	int64_t type_id;
	uint64_t size; /* bytes in the file, with its header */
	uint64_t at;   /* in the file */
	struct jfr_cursor fields; /* from the first field to the end of the event */
};

struct jfr_reader;

/*
 * `read` is called with positions below `size`.  max_memory: bytes for constants, types and one
 * event; 0: no limit.
 */
struct jfr_reader *jfr_reader_new(jfr_read_fn *read, void *arg, uint64_t size, size_t max_memory);
void jfr_reader_free(struct jfr_reader *r); /* NULL is allowed */

/*
 * Reads the types and constants of the next chunk.  Returns 1; 0 at the end; or -1 with err set, if
 * the file is not a recording (EXIT_USAGE), cannot be read or needs too much memory (EXIT_PARTIAL).
 * What belongs to the previous chunk is freed.
 */
int jfr_next_chunk(struct jfr_reader *r, struct err *err) _must_check_;
const struct jfr_chunk *jfr_chunk_of(const struct jfr_reader *r);

/*
 * Reads the next event of the chunk.  Returns false at the end of the chunk.  The event is valid
 * until the next call.  `type` is NULL if it is not declared, as of the types 0 (metadata) and 1
 * (constants); it may be one that is not an event's.
 */
bool jfr_next_event(struct jfr_reader *r, struct jfr_event *e);
/*
 * Whether events with an id of no event type are passed over, too.  The number of all events that
 * were passed over is that of event types only.
 */
void jfr_skip_others(struct jfr_reader *r, bool skip);
uint64_t jfr_skipped_events(const struct jfr_reader *r);

/* The number of bytes that were passed so far, to show progress. */
uint64_t jfr_position(const struct jfr_reader *r);

/* Returns what was not read, a sentence a line, or "" if everything was. */
const char *jfr_problems(const struct jfr_reader *r);
/* For what a consumer finds; `at` is a position in the file. */
void jfr_add_problem(struct jfr_reader *r, uint64_t at, const char *text);

/* Convert ticks of a chunk; results saturate. */
int64_t jfr_ticks_to_epoch(const struct jfr_chunk *c, int64_t ticks);
int64_t jfr_ticks_to_nanos(const struct jfr_chunk *c, int64_t ticks);

#endif
