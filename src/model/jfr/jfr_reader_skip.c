/* Skips the events that no consumer needs. */
#include <string.h>

#include "base/xalloc.h"
#include "model/jfr/jfr_reader_internal.h"

/* What the reader does with an event of a type. */
enum action {
	ACTION_SKIP = 0,
	ACTION_COUNT = 1, /* skips the event and counts it */
	ACTION_STOP = 2,  /* does not skip it */
};

/* A size of one byte: events of fewer bytes have no room for a type id of two bytes. */
#define SHORT_MIN 3
#define SHORT_MAX 127
#define N_ACTIONS (1u << 16)

void jfr_skip_others(struct jfr_reader *r, bool skip)
{
	r->skips_others = skip;
}

uint64_t jfr_skipped_events(const struct jfr_reader *r)
{
	return r->skipped;
}

static enum action action_of(const struct jfr_reader *r, const struct jfr_type *type)
{
	if (type && type->is_event)
		return type->is_skipped ? ACTION_COUNT : ACTION_STOP;
	return r->skips_others ? ACTION_SKIP : ACTION_STOP;
}

/*
 * Fills r->actions for the types of the chunk.  The index of an action is the two bytes after an
 * event's size, the first byte in the lower 8 bits: a type id of two bytes, or one of one byte and
 * any other byte.
 */
static void find_actions(struct jfr_reader *r)
{
	if (!r->actions)
		r->actions = xmalloc(N_ACTIONS);
	r->actions_chunk = r->chunk.number;
	memset(r->actions, ACTION_STOP, N_ACTIONS);
	for (unsigned id = 0; id < JFR_LOW_IDS; id++) {
		uint8_t action = (uint8_t)action_of(r, r->chunk.metadata.low[id]);

		r->actions[(id & 0x7f) | 0x80 | (id >> 7) << 8] = action;
		for (unsigned next = 0; id < 0x80 && next < 0x100; next++)
			r->actions[id | next << 8] = action;
	}
}

/*
 * Skips events whose size has one byte and whose type id has at most two.  Returns the position of
 * the first event that is not skipped, or that may exceed `end`.  In many recordings, nearly all
 * events are unwanted and short, so this loop must be fast.  Only the load of `size` delays the
 * next turn: the processor does the rest in parallel.
 */
static const uint8_t *skip_short(struct jfr_reader *r, const uint8_t *at, const uint8_t *end)
{
	const uint8_t *actions = r->actions;
	uint64_t skipped = 0;

	while (end - at > SHORT_MAX) {
		unsigned size = at[0], action = actions[at[1] | at[2] << 8];

		if (size - SHORT_MIN > SHORT_MAX - SHORT_MIN || action == ACTION_STOP)
			break;
		skipped += action;
		at += size;
	}
	r->skipped += skipped;
	return at;
}

/*
 * Decodes the compressed number at `at`, where 4 bytes must be readable.  Returns how many bytes
 * the number takes, 1 to 4; or 0 if the number is 2^28 or more.
 */
static inline unsigned short_number(const uint8_t *at, uint32_t *value)
{
	*value = at[0] & 0x7f;
	if (!(at[0] & 0x80))
		return 1;
	*value |= (uint32_t)(at[1] & 0x7f) << 7;
	if (!(at[1] & 0x80))
		return 2;
	*value |= (uint32_t)(at[2] & 0x7f) << 14;
	if (!(at[2] & 0x80))
		return 3;
	*value |= (uint32_t)(at[3] & 0x7f) << 21;
	return at[3] & 0x80 ? 0 : 4;
}

void jfr_skip_unwanted(struct jfr_reader *r)
{
	uint64_t left = r->chunk.end - r->at;
	const uint8_t *end = r->data + (left < r->len ? (size_t)left : r->len);
	const uint8_t *at = r->data + (r->next_event - r->at);

	if (r->actions_chunk != r->chunk.number)
		find_actions(r);
	while (end - at > JFR_EVENT_HEAD_MAX) {
		uint32_t size, id;
		unsigned n, m;
		enum action action;

		at = skip_short(r, at, end);
		if (end - at <= JFR_EVENT_HEAD_MAX)
			break;
		n = short_number(at, &size);
		m = n ? short_number(at + n, &id) : 0;
		if (m == 0 || id >= JFR_LOW_IDS || size < n + m || size > (size_t)(end - at))
			break;
		action = action_of(r, r->chunk.metadata.low[id]);
		if (action == ACTION_STOP)
			break;
		r->skipped += action;
		at += size;
	}
	r->next_event = r->at + (uint64_t)(at - r->data);
}
