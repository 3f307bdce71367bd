/* Shared by the files that implement jfr_reader.h. */
#ifndef JTOOL_MODEL_JFR_JFR_READER_INTERNAL_H
#define JTOOL_MODEL_JFR_JFR_READER_INTERNAL_H

#include "model/jfr/jfr_pools.h"
#include "model/jfr/jfr_reader.h"

#define JFR_WINDOW (1u << 17) /* bytes to read from the file at once; they fit into the CPU cache */
#define JFR_EVENT_HEAD_MAX 18 /* the most bytes that an event's size and type id take */
#define JFR_EVENT_MAX (256u << 20) /* maximum size of an event in bytes */

/*
 * The types that were parsed last.  jfr_chunk.metadata is a copy of the struct `types`: the
 * pointers of both refer to the same arrays, which are freed only through `types`.
 */
struct jfr_known_types {
	struct jfr_metadata types;
	uint8_t *copy; /* the payload of the metadata event; owned */
	const uint8_t *text; /* the part of `copy` that describes the types; `len` is its length */
	size_t len;
	bool compressed;
};

struct jfr_reader {
	jfr_read_fn *read;
	void *arg;
	uint64_t size;
	size_t max_memory;
	struct jfr_chunk chunk;
	struct jfr_known_types known;
	uint64_t next_chunk, next_event;
	/*
	 * The window: data[0] to data[len - 1] are the bytes of the file from position `at` on.
	 * They are in `own`, or were returned by ahead.next().
	 */
	const uint8_t *data;
	size_t len;
	uint64_t at;
	uint8_t *own;
	size_t own_cap;
	struct jfr_ahead ahead; /* all NULL: nothing is read ahead */
	uint64_t ahead_at; /* position of the bytes that ahead.next() will return */
	/* minimum size of a new window in bytes; at the end of the file, it may be smaller */
	size_t window_min;
	struct buf problems;
	unsigned n_problems;
	int error; /* negative errno of read(); 0: none */
	bool skips_others;
	uint64_t skipped;
	uint8_t *actions; /* used by jfr_skip_unwanted(); NULL or owned */
	unsigned actions_chunk; /* number of the chunk that `actions` belong to */
};

/*
 * Returns a pointer to n bytes of the file from position `at` on, valid until the next call; NULL
 * if they cannot be read.
 */
const uint8_t *jfr_window(struct jfr_reader *r, uint64_t at, size_t n);
/* Copies n bytes of the file from position `at` on.  Returns false if they cannot be read. */
bool jfr_copy(struct jfr_reader *r, uint64_t at, uint8_t *to, size_t n);
/*
 * Reads size and type of the event at `at`.  Sets *head to the number of bytes that these two
 * numbers take.  Returns false if the event exceeds the chunk or a limit, or cannot be read.
 */
bool jfr_read_head(struct jfr_reader *r, uint64_t at, uint64_t *size, int64_t *type,
		   size_t *head);
/*
 * Skips the events in the window that no consumer needs, from r->next_event on.  r->next_event must
 * be in the window, and the chunk compressed.  Sets r->next_event to the first event that was not
 * skipped: a consumer needs it, it is not complete in the window, or its size or type id is large.
 */
void jfr_skip_unwanted(struct jfr_reader *r);
/*
 * Reads the types and constants of the chunk.  `metadata` and `checkpoint` are positions relative
 * to the chunk's start; 0: unknown.  Returns 1; or 0 if the events of this chunk cannot be read; or
 * -1 with err set.
 */
int jfr_read_constants(struct jfr_reader *r, uint64_t metadata, uint64_t checkpoint,
		       struct err *err) _must_check_;

#endif
