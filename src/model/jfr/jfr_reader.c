#include "model/jfr/jfr_reader.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/xalloc.h"
#include "model/jfr/jfr_reader_internal.h"

#define PROBLEMS_MAX 20 /* limit for the number of lines that jfr_problems() returns */
/*
 * Two chunks with the same ticks_per_second are of one JVM if the time between their starts is the
 * same in ticks and in ns, up to this difference.
 */
#define SAME_JVM_NS INT64_C(1000000000)
#define NOT_STARTED UINT64_MAX /* value of `ahead_at` before start_ahead() */
#define STATE_UPDATING 255 /* value of the header's `state` while the JVM updates the header */

struct jfr_reader *jfr_reader_new(jfr_read_fn *read, void *arg, uint64_t size, size_t max_memory)
{
	struct jfr_reader *r = xcalloc(1, sizeof(*r));

	r->read = read;
	r->arg = arg;
	r->size = size;
	r->window_min = JFR_WINDOW;
	r->max_memory = max_memory > 0 ? max_memory : SIZE_MAX;
	return r;
}

static void release_chunk(struct jfr_reader *r)
{
	jfr_pools_free(r->chunk.pools);
	r->chunk.pools = NULL;
	r->chunk.metadata = (struct jfr_metadata){ .texts = BUF_INIT };
}

void jfr_reader_free(struct jfr_reader *r)
{
	if (!r)
		return;
	release_chunk(r);
	jfr_metadata_release(&r->known.types);
	free(r->known.copy);
	buf_release(&r->problems);
	free(r->own);
	free(r->actions);
	free(r);
}

const struct jfr_chunk *jfr_chunk_of(const struct jfr_reader *r)
{
	return &r->chunk;
}

const char *jfr_problems(const struct jfr_reader *r)
{
	return buf_str(&r->problems);
}

void jfr_add_problem(struct jfr_reader *r, uint64_t at, const char *text)
{
	if (r->n_problems == PROBLEMS_MAX)
		buf_adds(&r->problems, "there are more defects\n");
	if (r->n_problems++ < PROBLEMS_MAX)
		buf_addf(&r->problems, "chunk %u, byte %" PRIu64 ": %s\n", r->chunk.number, at,
			 text);
}

void jfr_read_ahead(struct jfr_reader *r, const struct jfr_ahead *ahead)
{
	r->ahead = *ahead;
	r->ahead_at = NOT_STARTED;
}

/* Has the events after the window read ahead, up to the end of the chunk. */
static void start_ahead(struct jfr_reader *r)
{
	uint64_t end = r->at + r->len;

	if (!r->ahead.start || end >= r->chunk.end)
		return;
	r->ahead_at = end;
	r->ahead.start(r->arg, end, r->chunk.end);
}

/* Returns whether a window from `at` on has no bytes between this window and those read ahead. */
static bool is_next_ahead(const struct jfr_reader *r, uint64_t at)
{
	uint64_t end = r->at + r->len;

	return r->ahead.next && end == r->ahead_at && at >= r->at && at <= end;
}

/* Moves the window to `at` (is_next_ahead()).  Returns false if nothing was read ahead. */
static bool move_ahead(struct jfr_reader *r, uint64_t at)
{
	uint64_t end = r->at + r->len;
	size_t len;
	const uint8_t *data = r->ahead.next(r->arg, r->data + (at - r->at), (size_t)(end - at),
					    &len);

	if (!data)
		return false;
	r->data = data;
	r->at = at;
	r->len = len;
	r->ahead_at = at + len;
	return true;
}

const uint8_t *jfr_window(struct jfr_reader *r, uint64_t at, size_t n)
{
	uint64_t left;
	size_t want;
	bool is_ahead;

	if (at >= r->at && at - r->at <= r->len && n <= r->len - (at - r->at))
		return r->data + (at - r->at);
	if (at > r->size || n > r->size - at || r->error < 0)
		return NULL;
	is_ahead = is_next_ahead(r, at);
	if (is_ahead && move_ahead(r, at) && n <= r->len)
		return r->data;
	left = r->size - at;
	want = n > r->window_min ? n : left < r->window_min ? (size_t)left : r->window_min;
	if (want > r->own_cap) {
		free(r->own);
		r->own_cap = want;
		r->own = xmalloc(want);
	}
	r->data = r->own;
	r->len = 0;
	r->at = at;
	r->error = r->read(r->arg, at, r->own, want);
	if (r->error < 0)
		return NULL;
	r->len = want;
	if (is_ahead)
		start_ahead(r);
	return r->data;
}

bool jfr_copy(struct jfr_reader *r, uint64_t at, uint8_t *to, size_t n)
{
	if (at >= r->at && at - r->at <= r->len && n <= r->len - (at - r->at)) {
		memcpy(to, r->data + (at - r->at), n);
		return true;
	}
	if (at > r->size || n > r->size - at || r->error < 0)
		return false;
	r->error = r->read(r->arg, at, to, n);
	return r->error == 0;
}

bool jfr_read_head(struct jfr_reader *r, uint64_t at, uint64_t *size, int64_t *type,
		   size_t *head)
{
	uint64_t left = r->chunk.end - at;
	size_t n = left < JFR_EVENT_HEAD_MAX ? (size_t)left : JFR_EVENT_HEAD_MAX;
	const uint8_t *data = at < r->chunk.end ? jfr_window(r, at, n) : NULL;
	struct jfr_cursor c = { .at = data, .end = data ? data + n : NULL };

	if (!data)
		return false;
	c.compressed = r->chunk.compressed;
	*size = c.compressed ? jfr_compressed(&c) : jfr_raw(&c, 4);
	*type = jfr_long(&c);
	*head = n - jfr_left(&c);
	return !c.failed && *size >= *head && *size <= left && *size <= JFR_EVENT_MAX &&
	       *size <= r->max_memory;
}

static void set_time_base(struct jfr_chunk *new, const struct jfr_chunk *old)
{
	new->base_ns = new->start_ns;
	new->base_ticks = new->start_ticks;
	if (old->number > 0 && old->ticks_per_second == new->ticks_per_second) {
		struct jfr_chunk as_old = *new;
		int64_t expected, off;

		as_old.base_ns = old->base_ns;
		as_old.base_ticks = old->base_ticks;
		expected = jfr_ticks_to_epoch(&as_old, new->start_ticks);
		if (!__builtin_sub_overflow(expected, new->start_ns, &off) && off < SAME_JVM_NS &&
		    off > -SAME_JVM_NS)
			*new = as_old;
	}
}

/*
 * Sets the end of the chunk.  The JVM is still writing the chunk if `state` is not 0 or `size` is
 * 0.  In STATE_UPDATING, `size` is not valid.
 */
static void set_extent(struct jfr_reader *r, struct jfr_chunk *chunk, uint64_t size, uint8_t state)
{
	uint64_t left = r->size - chunk->at;
	bool has_size = size >= JFR_HEADER_LEN && state != STATE_UPDATING;

	chunk->is_open = state != 0 || size == 0;
	chunk->is_cut = !chunk->is_open && size > left;
	chunk->end = chunk->at + (has_size && size < left ? size : left);
	/* A chunk that is being written is the last one. */
	r->next_chunk = chunk->is_open ? r->size : chunk->end;
}

/* Reads the header of a chunk.  Returns 1, or 0 if there is none at this position. */
static int read_header(struct jfr_reader *r, uint64_t *metadata, uint64_t *checkpoint)
{
	const uint8_t *data = jfr_window(r, r->next_chunk, JFR_HEADER_LEN);
	struct jfr_chunk chunk = { .at = r->next_chunk, .number = r->chunk.number + 1 };
	struct jfr_cursor c;
	uint64_t size;
	uint8_t state = 0;

	if (!data || memcmp(data, "FLR", 4) != 0)
		return 0;
	c = (struct jfr_cursor){ .at = data + 4, .end = data + JFR_HEADER_LEN };
	chunk.major = (uint16_t)jfr_raw(&c, 2);
	chunk.minor = (uint16_t)jfr_raw(&c, 2);
	size = jfr_raw(&c, 8);
	*checkpoint = jfr_raw(&c, 8);
	*metadata = jfr_raw(&c, 8);
	chunk.start_ns = (int64_t)jfr_raw(&c, 8);
	chunk.duration_ns = (int64_t)jfr_raw(&c, 8);
	chunk.start_ticks = (int64_t)jfr_raw(&c, 8);
	chunk.ticks_per_second = (int64_t)jfr_raw(&c, 8);
	if (chunk.major >= 2)
		state = *c.at;
	chunk.compressed = c.at[3] & 1;
	if (chunk.major < 1 || chunk.major > 2 || (size > 0 && size < JFR_HEADER_LEN))
		return 0;
	set_extent(r, &chunk, size, state);
	if (*metadata > chunk.end - chunk.at)
		*metadata = 0;
	if (*checkpoint > chunk.end - chunk.at)
		*checkpoint = 0;
	set_time_base(&chunk, &r->chunk);
	chunk.metadata.texts = (struct buf)BUF_INIT;
	r->chunk = chunk;
	r->next_event = chunk.at + JFR_HEADER_LEN;
	return 1;
}

static int no_header(struct jfr_reader *r, struct err *err)
{
	if (r->error < 0)
		return err_set(err, EXIT_PARTIAL, "cannot read the recording: %s; try again",
			       strerror(-r->error));
	if (r->chunk.number == 0)
		return err_set(err, EXIT_USAGE,
			       "not a flight recording (.jfr) of JDK 8u262, 9 or later: its first "
			       "bytes are not 'FLR' and version 1 or 2");
	jfr_add_problem(r, r->next_chunk, "no further chunk begins here; the rest was not read");
	r->next_chunk = r->size;
	return 0;
}

static void note_extent(struct jfr_reader *r)
{
	if (r->chunk.is_cut)
		jfr_add_problem(r, r->chunk.end, "the file ends within this chunk");
	else if (r->chunk.is_open)
		jfr_add_problem(r, r->chunk.end,
				"the JVM was still writing this chunk; it was read up to here");
}

int jfr_next_chunk(struct jfr_reader *r, struct err *err)
{
	uint64_t metadata, checkpoint;
	int rc = 0;

	while (rc == 0) {
		release_chunk(r);
		if (r->next_chunk >= r->size && r->chunk.number > 0)
			return 0;
		if (read_header(r, &metadata, &checkpoint) == 0)
			return no_header(r, err);
		note_extent(r);
		rc = jfr_read_constants(r, metadata, checkpoint, err);
		if (rc == 0)
			jfr_add_problem(r, r->chunk.at,
					"no description of the events is in this chunk, so that "
					"none of them can be read");
		if (r->error < 0)
			return no_header(r, err);
	}
	r->len = 0;
	r->at = r->next_event;
	start_ahead(r);
	return rc;
}

bool jfr_next_event(struct jfr_reader *r, struct jfr_event *e)
{
	const uint8_t *data;
	int64_t type;
	size_t head;

	if (!r->chunk.pools || r->next_event >= r->chunk.end)
		return false;
	if (r->chunk.compressed && r->next_event >= r->at && r->next_event - r->at < r->len)
		jfr_skip_unwanted(r);
	if (r->next_event >= r->chunk.end)
		return false;
	if (!jfr_read_head(r, r->next_event, &e->size, &type, &head)) {
		if (!r->chunk.is_cut && !r->chunk.is_open)
			jfr_add_problem(r, r->next_event,
					"an event is damaged; the rest of the chunk was not read");
		r->next_event = r->chunk.end;
		return false;
	}
	data = jfr_window(r, r->next_event, (size_t)e->size);
	if (!data) {
		jfr_add_problem(r, r->next_event, "an event cannot be read");
		r->next_event = r->chunk.end;
		return false;
	}
	e->at = r->next_event;
	e->type_id = type;
	e->type = jfr_type_by_id(&r->chunk.metadata, type);
	e->chunk = &r->chunk;
	e->fields = (struct jfr_cursor){ data + head, data + e->size, r->chunk.compressed, false };
	r->next_event += e->size;
	return true;
}

int64_t jfr_ticks_to_nanos(const struct jfr_chunk *c, int64_t ticks)
{
	double per_ns = (double)c->ticks_per_second / 1e9;
	double nanos = c->ticks_per_second > 0 ? (double)ticks / per_ns : 0;

	if (nanos >= 9223372036854775808.0)
		return INT64_MAX;
	return nanos <= -9223372036854775808.0 ? INT64_MIN : (int64_t)nanos;
}

int64_t jfr_ticks_to_epoch(const struct jfr_chunk *c, int64_t ticks)
{
	int64_t since, at;

	if (__builtin_sub_overflow(ticks, c->base_ticks, &since))
		since = ticks < 0 ? INT64_MIN : INT64_MAX;
	since = jfr_ticks_to_nanos(c, since);
	if (since == INT64_MIN || __builtin_add_overflow(c->base_ns, since, &at))
		at = since < 0 ? INT64_MIN : INT64_MAX;
	return at;
}
