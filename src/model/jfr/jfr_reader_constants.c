/* Reads the types and constants of a chunk from its metadata event and its checkpoints. */
#include <string.h>

#include "base/xalloc.h"
#include "model/jfr/jfr_reader_internal.h"

#define METADATA_MAX (16u << 20)
#define METADATA_ID 0
#define CHECKPOINT_ID 1

/* Copies the payload of the event at `at`.  Returns NULL if there is no event of this type. */
static uint8_t *copy_event(struct jfr_reader *r, uint64_t at, int64_t type, uint64_t max,
			   struct jfr_cursor *c)
{
	uint64_t size;
	int64_t found;
	size_t head;
	const uint8_t *data;
	uint8_t *copy;

	if (at >= r->chunk.end || !jfr_read_head(r, at, &size, &found, &head) || found != type ||
	    size > max)
		return NULL;
	data = jfr_window(r, at + head, (size_t)size - head);
	if (!data)
		return NULL;
	copy = xmalloc((size_t)size - head + 1);
	memcpy(copy, data, (size_t)size - head);
	*c = (struct jfr_cursor){ copy, copy + (size - head), r->chunk.compressed, false };
	return copy;
}

static bool read_metadata(struct jfr_reader *r, uint64_t at)
{
	struct jfr_metadata new = { .texts = BUF_INIT };
	struct jfr_cursor c;
	uint8_t *copy = copy_event(r, at, METADATA_ID, METADATA_MAX, &c);
	bool valid = copy && jfr_metadata_parse(&new, &c) == 0;

	free(copy);
	if (!valid) {
		jfr_metadata_release(&new);
		return false;
	}
	jfr_metadata_release(&r->chunk.metadata);
	r->chunk.metadata = new;
	return true;
}

static int check_memory(struct jfr_reader *r, struct err *err)
{
	size_t used = jfr_pools_bytes(r->chunk.pools) + r->cap;

	if (used <= r->max_memory)
		return 0;
	return err_set(err, EXIT_PARTIAL,
		       "the names and stacks of the recording do not fit into %zu MB; allow more "
		       "with --max-memory SIZE", r->max_memory >> 20);
}

/*
 * Reads the checkpoint at `at`.  Returns 1; 0 if there is no valid checkpoint; or -1 with err set.
 */
static int read_checkpoint(struct jfr_reader *r, uint64_t at, bool replaces, int64_t *delta,
			   struct err *err)
{
	struct jfr_cursor c;
	uint8_t *copy = copy_event(r, at, CHECKPOINT_ID, JFR_EVENT_MAX, &c);

	*delta = 0;
	if (!copy || jfr_pools_add(r->chunk.pools, &c, copy, replaces, delta) < 0)
		return 0;
	return check_memory(r, err) < 0 ? -1 : 1;
}

/*
 * Reads the checkpoints from the last one back to the first one of the chunk.  If several
 * checkpoints have the same key, its value in the first checkpoint of the chunk is valid.  Returns
 * 1, 0 if a checkpoint is damaged, or -1 with err set.
 */
static int follow_checkpoints(struct jfr_reader *r, uint64_t at, struct err *err)
{
	int64_t delta = -1;

	while (delta != 0) {
		int rc = read_checkpoint(r, at, true, &delta, err);

		if (rc <= 0)
			return rc;
		/* The previous checkpoint must be before this one, so that the loop ends. */
		if (delta > 0 || (delta < 0 && at - r->chunk.at <= (uint64_t)-(delta + 1)))
			return 0;
		at -= (uint64_t)0 - (uint64_t)delta;
	}
	return 1;
}

/* Searches the chunk for its last metadata event, if the header does not have its position. */
static bool scan_metadata(struct jfr_reader *r)
{
	uint64_t at = r->chunk.at + JFR_HEADER_LEN, size = 0;
	bool found = false;
	int64_t type;
	size_t head;

	for (; jfr_read_head(r, at, &size, &type, &head); at += size) {
		if (type == METADATA_ID)
			found |= read_metadata(r, at);
	}
	return found;
}

static int scan_checkpoints(struct jfr_reader *r, struct err *err)
{
	uint64_t at = r->chunk.at + JFR_HEADER_LEN, size = 0;
	int64_t type, delta;
	size_t head;

	for (; jfr_read_head(r, at, &size, &type, &head); at += size) {
		if (type != CHECKPOINT_ID)
			continue;
		switch (read_checkpoint(r, at, false, &delta, err)) {
		case -1:
			return -1;
		case 0:
			jfr_add_problem(r, at, "constants are damaged");
		}
	}
	return 0;
}

int jfr_read_constants(struct jfr_reader *r, uint64_t metadata, uint64_t checkpoint,
		       struct err *err)
{
	bool known = metadata > 0 && read_metadata(r, r->chunk.at + metadata);
	int rc;

	if (!known && !scan_metadata(r))
		return 0;
	r->chunk.pools = jfr_pools_new(&r->chunk.metadata);
	rc = known && checkpoint > 0 ? follow_checkpoints(r, r->chunk.at + checkpoint, err) : 0;
	if (rc != 0)
		return rc;
	if (!r->chunk.is_open && !r->chunk.is_cut)
		jfr_add_problem(r, r->chunk.at + checkpoint, "the chain of constants is damaged");
	jfr_pools_free(r->chunk.pools);
	r->chunk.pools = jfr_pools_new(&r->chunk.metadata);
	return scan_checkpoints(r, err) < 0 ? -1 : 1;
}
