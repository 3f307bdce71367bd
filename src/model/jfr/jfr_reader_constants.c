/* Reads the types and constants of a chunk from its metadata event and its checkpoints. */
#include <errno.h>
#include <string.h>

#include "base/xalloc.h"
#include "model/jfr/jfr_reader_internal.h"

#define METADATA_MAX (16u << 20)
#define METADATA_ID 0
#define CHECKPOINT_ID 1
/*
 * Number of bytes that are read at once to read a checkpoint.  Most checkpoints are shorter.
 * Checkpoints are far apart in the file, so a longer read would rarely contain a second checkpoint.
 */
#define HEAD_WINDOW 4096

/*
 * Returns a copy of the payload of the event at `at`, and sets *c to the start of the copy.  The
 * caller frees the copy.  Returns NULL if there is no event of this type at `at`, or if the event
 * has more than `max` bytes or cannot be read.
 */
static uint8_t *copy_event(struct jfr_reader *r, uint64_t at, int64_t type, uint64_t max,
			   struct jfr_cursor *c)
{
	uint64_t size;
	int64_t found;
	size_t head;
	uint8_t *copy;

	if (at >= r->chunk.end || !jfr_read_head(r, at, &size, &found, &head) || found != type ||
	    size > max)
		return NULL;
	copy = xmalloc((size_t)size - head + 1);
	if (!jfr_copy(r, at + head, copy, (size_t)size - head)) {
		free(copy);
		return NULL;
	}
	*c = (struct jfr_cursor){ copy, copy + (size - head), r->chunk.compressed, false };
	return copy;
}

static int out_of_memory(const struct jfr_reader *r, struct err *err)
{
	return err_set(err, EXIT_PARTIAL,
		       "the names and stacks of the recording do not fit into %zu MB; allow more "
		       "with --max-memory SIZE", r->max_memory >> 20);
}

/* Returns how many bytes the constants, or new types, may use in addition to `other` bytes. */
static size_t memory_left(const struct jfr_reader *r, size_t other)
{
	size_t used = r->own_cap + r->known.len + jfr_metadata_bytes(&r->known.types) + other;

	return used < r->max_memory ? r->max_memory - used : 0;
}

/* Returns whether the metadata event with the payload `c` describes the same types as `known`. */
static bool is_known(const struct jfr_known_types *known, struct jfr_cursor c)
{
	(void)jfr_metadata_id(&c);
	return known->copy && known->compressed == c.compressed && jfr_left(&c) == known->len &&
	       memcmp(c.at, known->text, known->len) == 0;
}

/*
 * Parses the types of a metadata event into r->known.  `copy` is the event's payload, and `c` is a
 * cursor at the start of `copy`.  Returns 0, and takes ownership of `copy`; on failure, returns
 * -EBADMSG or -ENOMEM as jfr_metadata_parse() does, and the caller frees `copy`.
 */
static int parse_types(struct jfr_reader *r, struct jfr_cursor *c, uint8_t *copy)
{
	struct jfr_known_types *known = &r->known;
	struct jfr_known_types new = {
		.types = { .texts = BUF_INIT }, .copy = copy, .compressed = c->compressed,
	};
	struct jfr_cursor description = *c;
	int rc;

	(void)jfr_metadata_id(&description);
	new.text = description.at;
	new.len = jfr_left(&description);
	rc = jfr_metadata_parse(&new.types, c, memory_left(r, new.len));
	if (rc < 0) {
		jfr_metadata_release(&new.types);
		return rc;
	}
	jfr_metadata_release(&known->types);
	free(known->copy);
	*known = new;
	return 0;
}

/*
 * Reads the types of the chunk.  Most chunks of a JVM describe the same types, so types are parsed
 * only if they differ from those of the previous chunk.  Returns 1; or 0 if there is no valid
 * metadata event at `at`; or -1 with err set.
 */
static int read_metadata(struct jfr_reader *r, uint64_t at, struct err *err)
{
	struct jfr_metadata *m = &r->known.types;
	struct jfr_cursor c;
	uint8_t *copy = copy_event(r, at, METADATA_ID, METADATA_MAX, &c);

	int rc;

	if (!copy)
		return 0;
	if (is_known(&r->known, c)) {
		m->id = jfr_metadata_id(&c);
		free(copy);
	} else if ((rc = parse_types(r, &c, copy)) < 0) {
		free(copy);
		return rc == -ENOMEM ? out_of_memory(r, err) : 0;
	}
	for (size_t i = 0; i < m->n; i++) {
		m->types[i].user = 0;
		m->types[i].is_skipped = false;
	}
	r->chunk.metadata = *m;
	return 1;
}

static struct jfr_pools *new_pools(struct jfr_reader *r)
{
	return jfr_pools_new(&r->chunk.metadata, memory_left(r, 0));
}

static int check_memory(struct jfr_reader *r, struct err *err)
{
	return jfr_pools_bytes(r->chunk.pools) > memory_left(r, 0) ? out_of_memory(r, err) : 0;
}

/*
 * Adds the constants of the checkpoint at `at`.  `replaces` and *delta are as for jfr_pools_add().
 * Returns 1; or 0 if there is no valid checkpoint at `at`; or -1 with err set.
 */
static int read_checkpoint(struct jfr_reader *r, uint64_t at, bool replaces, int64_t *delta,
			   struct err *err)
{
	struct jfr_cursor c;
	uint8_t *copy = copy_event(r, at, CHECKPOINT_ID, JFR_EVENT_MAX, &c);
	int rc;

	*delta = 0;
	if (!copy)
		return 0;
	rc = jfr_pools_add(r->chunk.pools, &c, copy, replaces, delta);
	/* A damaged checkpoint may have added constants, too. */
	if (check_memory(r, err) < 0)
		return -1;
	return rc == 0;
}

/*
 * Reads the checkpoints of the chunk backwards, from the last one to the first one.  If several
 * checkpoints contain the same key, the value of the checkpoint that is first in the file is used.
 * Returns 1; or 0 if a checkpoint is damaged; or -1 with err set.
 */
static int follow_checkpoints(struct jfr_reader *r, uint64_t at, struct err *err)
{
	int64_t delta = -1;

	while (delta != 0) {
		int rc = read_checkpoint(r, at, true, &delta, err);

		if (rc <= 0)
			return rc;
		/* The loop ends because each step must lead nearer to the chunk's start. */
		if (delta > 0 || (delta < 0 && at - r->chunk.at <= (uint64_t)-(delta + 1)))
			return 0;
		at -= (uint64_t)0 - (uint64_t)delta;
	}
	return 1;
}

/*
 * Reads the types from the chunk's last metadata event.  Called if the chunk's header has no valid
 * offset of that event.  Returns 1; or 0 if there is no valid one; or -1 with err set.
 */
static int scan_metadata(struct jfr_reader *r, struct err *err)
{
	uint64_t at = r->chunk.at + JFR_HEADER_LEN, size = 0;
	int found = 0, rc;
	int64_t type;
	size_t head;

	for (; jfr_read_head(r, at, &size, &type, &head); at += size) {
		if (type != METADATA_ID)
			continue;
		rc = read_metadata(r, at, err);
		if (rc < 0)
			return rc;
		found |= rc;
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
	int known = metadata > 0 ? read_metadata(r, r->chunk.at + metadata, err) : 0;
	int rc = known == 0 ? scan_metadata(r, err) : known;

	if (rc <= 0)
		return rc;
	r->chunk.pools = new_pools(r);
	if (check_memory(r, err) < 0)
		return -1;
	r->window_min = HEAD_WINDOW;
	rc = known > 0 && checkpoint > 0 ? follow_checkpoints(r, r->chunk.at + checkpoint, err) : 0;
	r->window_min = JFR_WINDOW;
	if (rc != 0)
		return rc;
	if (!r->chunk.is_open && !r->chunk.is_cut)
		jfr_add_problem(r, r->chunk.at + checkpoint, "the chain of constants is damaged");
	jfr_pools_free(r->chunk.pools);
	r->chunk.pools = new_pools(r);
	return scan_checkpoints(r, err) < 0 ? -1 : 1;
}
