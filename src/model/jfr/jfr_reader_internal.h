/* Shared by the files of jfr_reader.h. */
#ifndef JTOOL_MODEL_JFR_JFR_READER_INTERNAL_H
#define JTOOL_MODEL_JFR_JFR_READER_INTERNAL_H

#include "model/jfr/jfr_pools.h"
#include "model/jfr/jfr_reader.h"

#define JFR_HEADER_LEN 68 /* ChunkHeader.HEADER_SIZE */
#define JFR_EVENT_MAX (256u << 20) /* bytes of one event */

struct jfr_reader {
	jfr_read_fn *read;
	void *arg;
	uint64_t size;
	size_t max_memory;
	struct jfr_chunk chunk;
	uint64_t next_chunk, next_event;
	/* data[0..len) is the file from position `at` */
	uint8_t *data;
	size_t len, cap;
	uint64_t at;
	struct buf problems;
	unsigned n_problems;
	int error; /* of read(), a negative errno */
	bool skips_others;
	uint64_t skipped;
};

/* Returns n bytes of the file at position `at`, or NULL if the file has not so many. */
const uint8_t *jfr_window(struct jfr_reader *r, uint64_t at, size_t n);
/* Reads the head of an event.  Returns false if it is not complete at the end of the chunk. */
bool jfr_read_head(struct jfr_reader *r, uint64_t at, uint64_t *size, int64_t *type,
		   size_t *head);
/*
 * Reads the types and constants of the chunk; the positions are relative to its start, 0: unknown.
 * Returns 1, 0 if the events of this chunk cannot be read, or -1 with err set.
 */
int jfr_read_constants(struct jfr_reader *r, uint64_t metadata, uint64_t checkpoint,
		       struct err *err) _must_check_;

#endif
