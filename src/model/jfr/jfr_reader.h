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
 * Memory is needed for the constants and types of one chunk, and for one event.  The recording is
 * untrusted: damaged parts are skipped, and jfr_problems() reports them.
 */
#ifndef JTOOL_MODEL_JFR_JFR_READER_H
#define JTOOL_MODEL_JFR_JFR_READER_H

#include "base/err.h"
#include "model/jfr/jfr_chunks.h"
#include "model/jfr/jfr_metadata.h"

struct jfr_pools;

struct jfr_chunk {
	/* offsets of the chunk's start and end in the file; if is_cut, `end` is the file's size */
	uint64_t at, end;
	unsigned number; /* number of the chunk in the recording, from 1 */
	uint16_t major, minor;
	int64_t start_ns; /* ns since the epoch */
	int64_t duration_ns;
	int64_t start_ticks, ticks_per_second;
	bool compressed;
	bool is_open; /* the JVM is still writing the chunk */
	bool is_cut; /* the file ends before the chunk does */
	struct jfr_metadata metadata;
	struct jfr_pools *pools;
	/*
	 * Start of the first chunk of the same JVM, in ns since the epoch and in ticks.  Ticks are
	 * converted to times relative to this start, as in the JDK's reader.
	 */
	int64_t base_ns, base_ticks;
};

struct jfr_event {
	struct jfr_type *type;
	const struct jfr_chunk *chunk;
	int64_t type_id;
	uint64_t size; /* bytes of the event in the file, including its size and type id */
	uint64_t at;   /* offset in the file */
	struct jfr_cursor fields; /* the fields, from the first one to the end of the event */
};

struct jfr_reader;

/*
 * Returns a reader.  It calls `read` only for bytes before the offset `size`.  It takes at most
 * `max_memory` bytes of memory for constants, types and one event (0: no limit).
 */
struct jfr_reader *jfr_reader_new(jfr_read_fn *read, void *arg, uint64_t size, size_t max_memory);
void jfr_reader_free(struct jfr_reader *r); /* NULL is allowed */

/*
 * Functions that read the events of a chunk in the order of the file, ahead of the reader.  Both
 * receive the reader's `arg`.
 */
struct jfr_ahead {
	/* Announces that the reader needs the bytes from `at` to before `end`. */
	void (*start)(void *arg, uint64_t at, uint64_t end);
	/*
	 * Returns the `tail_len` bytes at `tail`, followed by the next of the announced bytes, and
	 * sets *len to the length of both.  They stay valid until the next call that succeeds, or
	 * until start().  NULL: nothing was read ahead; the reader then calls its `read`.
	 */
	const uint8_t *(*next)(void *arg, const uint8_t *tail, size_t tail_len, size_t *len);
};

/* Makes the reader use *ahead from the next chunk on. */
void jfr_read_ahead(struct jfr_reader *r, const struct jfr_ahead *ahead);

/*
 * Reads the types and constants of the next chunk, and frees those of the previous chunk.  Returns
 * 1; 0 if there is no further chunk; or -1 with err set: EXIT_USAGE if the file is not a recording,
 * EXIT_PARTIAL if the file cannot be read or needs too much memory.
 */
int jfr_next_chunk(struct jfr_reader *r, struct err *err) _must_check_;
const struct jfr_chunk *jfr_chunk_of(const struct jfr_reader *r);

/*
 * Reads the next event of the chunk.  Returns false at the end of the chunk.  The event is valid
 * until the next call.  e->type is NULL if the chunk does not declare the event's type; a chunk
 * does not declare the types 0 (metadata) and 1 (constants).  A declared type is not necessarily an
 * event type (is_event).
 */
bool jfr_next_event(struct jfr_reader *r, struct jfr_event *e);
/*
 * If `skip` is true, jfr_next_event() may skip records whose type is undeclared or is not an event
 * type.  It may always skip events whose type has `is_skipped`.  It skips most of both, but not
 * all.  jfr_skipped_events() returns the number of events skipped because of `is_skipped`.
 */
void jfr_skip_others(struct jfr_reader *r, bool skip);
uint64_t jfr_skipped_events(const struct jfr_reader *r);

/* Returns one line for each problem that prevented a part from being read; "" if there is none. */
const char *jfr_problems(const struct jfr_reader *r);
/* Adds a problem that a consumer has found; `at` is an offset in the file. */
void jfr_add_problem(struct jfr_reader *r, uint64_t at, const char *text);

/*
 * Convert ticks of a chunk: jfr_ticks_to_epoch() converts a point in time to ns since the epoch,
 * jfr_ticks_to_nanos() converts a duration to ns.  If a time does not fit in an int64_t, the result
 * is the nearest int64_t.
 */
int64_t jfr_ticks_to_epoch(const struct jfr_chunk *c, int64_t ticks);
int64_t jfr_ticks_to_nanos(const struct jfr_chunk *c, int64_t ticks);

#endif
