#include "model/profile/alloc.h"

#include <errno.h>
#include <string.h>

#include "base/intern.h"
#include "base/printable.h"
#include "base/xalloc.h"
#include "model/class/type_name.h"

/*
 * Limits for the classes that a hostile agent can make jtool store, and for the bytes of their
 * names.
 */
#define CLASSES_MAX (1u << 20)
#define CLASS_NAMES_MAX ((size_t)128 << 20)
#define SITES_MAX (1u << 22)
#define SITE_FRAMES_MAX ((size_t)1 << 26)
#define NOTES_MAX 1000u
#define NOTE_LEN_MAX 2000u

void alloc_release(struct alloc *a)
{
	for (size_t i = 0; i < a->n_kinds; i++)
		free(a->kinds[i]);
	free(a->kinds);
	for (size_t i = 0; i < a->n; i++)
		free(a->sites[i].frames);
	free(a->sites);
	for (size_t i = 0; i < a->n_notes; i++)
		free(a->notes[i].text);
	free(a->notes);
	frame_table_release(&a->frames);
	*a = (struct alloc){ 0 };
}

static int take_begun(struct alloc *a, struct wire_reader *payload)
{
	uint64_t ns = wire_get_u64(payload);
	uint32_t hooked = wire_get_u32(payload), refused = wire_get_u32(payload);
	uint32_t depth = wire_get_u32(payload);

	if (!wire_reader_ok(payload) || a->begun)
		return -EBADMSG;
	a->begun = true;
	a->begin_ns = ns;
	a->hooked = hooked;
	a->refused = refused;
	a->depth = depth;
	return 0;
}

static int take_state(struct alloc *a, struct wire_reader *payload)
{
	struct alloc_state state = { .ns = wire_get_u64(payload) };

	state.samples = wire_get_u64(payload);
	state.bytes = wire_get_u64(payload);
	state.dropped = wire_get_u64(payload);
	state.sites = wire_get_u32(payload);
	state.interval = wire_get_u64(payload);
	state.collections = wire_get_u32(payload);
	if (!wire_reader_ok(payload))
		return -EBADMSG;
	a->state = state;
	return 0;
}

int alloc_add_class(struct alloc *a, const char *name, size_t len)
{
	if (a->n_kinds >= CLASSES_MAX || len > CLASS_NAMES_MAX - a->kinds_bytes)
		return -EBADMSG;
	a->kinds_bytes += len;
	a->kinds = xgrow(a->kinds, a->n_kinds, &a->kinds_cap, sizeof(*a->kinds));
	a->kinds[a->n_kinds++] = xstrndup(name, len);
	return 0;
}

static int take_kind(struct alloc *a, struct wire_reader *payload)
{
	_cleanup_buf_ struct buf name = BUF_INIT;
	struct wire_text signature = wire_get_text(payload);

	if (!wire_reader_ok(payload) || type_name_java(&name, signature.data, signature.len) < 0)
		return -EBADMSG;
	return alloc_add_class(a, buf_str(&name), name.len);
}

int alloc_add_site(struct alloc *a, const struct alloc_site *site)
{
	struct alloc_site copy = *site;

	if (site->kind >= a->n_kinds || a->n >= SITES_MAX || site->n_frames > WIRE_ALLOC_DEPTH ||
	    site->n_frames > SITE_FRAMES_MAX - a->n_site_frames)
		return -EBADMSG;
	for (uint32_t i = 0; i < site->n_frames; i++) {
		if (site->frames[i] >= a->frames.n)
			return -EBADMSG;
	}
	copy.frames = xcalloc(site->n_frames + 1, sizeof(*copy.frames));
	for (uint32_t i = 0; i < site->n_frames; i++)
		copy.frames[i] = site->frames[i];
	a->n_site_frames += site->n_frames;
	a->sites = xgrow(a->sites, a->n, &a->cap, sizeof(*a->sites));
	a->sites[a->n++] = copy;
	return 0;
}

static int take_site(struct alloc *a, struct wire_reader *payload)
{
	uint32_t frames[WIRE_ALLOC_DEPTH];
	struct alloc_site site = { .kind = wire_get_u32(payload), .frames = frames };

	site.objects = wire_get_u64(payload);
	site.bytes = wire_get_u64(payload);
	site.samples = wire_get_u64(payload);
	site.live_objects = wire_get_u64(payload);
	site.live_bytes = wire_get_u64(payload);
	site.n_frames = wire_get_u32(payload);
	if (!wire_reader_ok(payload) || site.n_frames > WIRE_ALLOC_DEPTH)
		return -EBADMSG;
	for (uint32_t i = 0; i < site.n_frames; i++)
		frames[i] = wire_get_u32(payload);
	return wire_reader_ok(payload) ? alloc_add_site(a, &site) : -EBADMSG;
}

int alloc_add_note(struct alloc *a, uint32_t note, const char *text, size_t len, uint64_t n)
{
	_cleanup_buf_ struct buf shown = BUF_INIT;

	if (a->n_notes >= NOTES_MAX)
		return -EBADMSG;
	printable_add(&shown, text, len < NOTE_LEN_MAX ? len : NOTE_LEN_MAX);
	a->notes = xgrow(a->notes, a->n_notes, &a->notes_cap, sizeof(*a->notes));
	a->notes[a->n_notes++] = (struct alloc_note){ note, buf_take(&shown), n };
	return 0;
}

/*
 * Stores a note.  A newer agent may send a note whose number this jtool does not know; the note's
 * text says what the note means.
 */
static int take_note(struct alloc *a, struct wire_reader *payload)
{
	uint32_t note = wire_get_u32(payload);
	struct wire_text text = wire_get_text(payload);
	uint64_t n = wire_get_u64(payload);

	if (!wire_reader_ok(payload))
		return -EBADMSG;
	return alloc_add_note(a, note, text.data, text.len, n);
}

static int take_end(struct alloc *a, struct wire_reader *payload)
{
	uint32_t end = wire_get_u32(payload);
	int32_t code = wire_get_i32(payload);
	uint64_t live_ns = wire_get_u64(payload);
	uint32_t flags = wire_get_u32(payload);

	if (end > WIRE_ALLOCED_FORCED || take_state(a, payload) < 0)
		return -EBADMSG;
	a->ended = true;
	a->end = end;
	a->code = code;
	a->live_ns = live_ns;
	a->flags = flags;
	return 1;
}

static int take_list(struct alloc *a, struct wire_reader *payload,
		     int take(struct alloc *a, struct wire_reader *payload))
{
	for (uint32_t n = wire_get_u32(payload); n > 0; n--) {
		int rc = take(a, payload);

		if (rc < 0)
			return rc;
	}
	return wire_reader_ok(payload) ? 0 : -EBADMSG;
}

int alloc_take(struct alloc *a, uint16_t type, struct wire_reader *payload)
{
	switch (type) {
	case WIRE_ALLOC_BEGUN:
		return take_begun(a, payload);
	case WIRE_ALLOC_STATE:
		return take_state(a, payload);
	case WIRE_FRAMES:
		return frame_table_take(&a->frames, payload);
	case WIRE_ALLOC_KINDS:
		return take_list(a, payload, take_kind);
	case WIRE_ALLOC_SITES:
		return take_list(a, payload, take_site);
	case WIRE_ALLOC_NOTE:
		return take_note(a, payload);
	case WIRE_ALLOC_END:
		return take_end(a, payload);
	default:
		return -EBADMSG;
	}
}

static void add_up(uint64_t *sum, uint64_t more)
{
	if (__builtin_add_overflow(*sum, more, sum))
		*sum = UINT64_MAX;
}

/*
 * Numbers the distinct texts from 0.  Returns an array with the number of each text; the caller
 * frees it.
 */
static uint32_t *number_distinct(char *const *texts, size_t n)
{
	uint32_t *numbers = xcalloc(n + 1, sizeof(*numbers));
	struct intern in = { 0 };

	for (size_t i = 0; i < n; i++)
		numbers[i] = intern_text(&in, texts[i]);
	intern_release(&in);
	return numbers;
}

static void add_site(struct alloc_site *sum, const struct alloc_site *more)
{
	add_up(&sum->objects, more->objects);
	add_up(&sum->bytes, more->bytes);
	add_up(&sum->samples, more->samples);
	add_up(&sum->live_objects, more->live_objects);
	add_up(&sum->live_bytes, more->live_bytes);
}

void alloc_merge(struct alloc *a)
{
	_cleanup_free_ uint32_t *kinds = number_distinct(a->kinds, a->n_kinds);
	_cleanup_free_ uint32_t *frames = number_distinct(a->frames.texts, a->frames.n);
	struct intern sites = { 0 };
	size_t n = 0;

	for (size_t i = 0; i < a->n; i++) {
		struct alloc_site *site = &a->sites[i];
		uint32_t key[1 + WIRE_ALLOC_DEPTH] = { kinds[site->kind] };
		uint32_t number;

		for (uint32_t k = 0; k < site->n_frames; k++)
			key[1 + k] = frames[site->frames[k]];
		number = intern_add(&sites, key, (1 + site->n_frames) * sizeof(*key));
		if (number == n) {
			a->sites[n++] = *site;
			continue;
		}
		add_site(&a->sites[number], site);
		a->n_site_frames -= site->n_frames;
		free(site->frames);
	}
	a->n = n;
	intern_release(&sites);
}

struct by {
	const struct alloc *a;
	enum alloc_order order;
};

static uint64_t value_of(const struct alloc_site *site, enum alloc_order order)
{
	switch (order) {
	case ALLOC_BY_COUNT:
		return site->objects;
	case ALLOC_BY_LIVE_BYTES:
		return site->live_bytes;
	case ALLOC_BY_LIVE_COUNT:
		return site->live_objects;
	default:
		return site->bytes;
	}
}

static int compare_stacks(const struct alloc *a, const struct alloc_site *x,
			  const struct alloc_site *y)
{
	for (uint32_t i = 0; i < x->n_frames && i < y->n_frames; i++) {
		int rc = strcmp(a->frames.texts[x->frames[i]], a->frames.texts[y->frames[i]]);

		if (rc != 0)
			return rc;
	}
	return (x->n_frames > y->n_frames) - (x->n_frames < y->n_frames);
}

static int compare(const void *left, const void *right, void *arg)
{
	const struct alloc_site *x = left, *y = right;
	const struct by *by = arg;
	uint64_t of_x = value_of(x, by->order), of_y = value_of(y, by->order);
	int rc;

	if (of_x != of_y)
		return of_x < of_y ? 1 : -1;
	rc = strcmp(by->a->kinds[x->kind], by->a->kinds[y->kind]);
	return rc != 0 ? rc : compare_stacks(by->a, x, y);
}

void alloc_sort(struct alloc *a, enum alloc_order order)
{
	struct by by = { a, order };

	if (a->n > 1)
		qsort_r(a->sites, a->n, sizeof(*a->sites), compare, &by);
}

struct alloc_total alloc_total(const struct alloc *a)
{
	struct alloc_total total = { 0 };

	for (size_t i = 0; i < a->n; i++) {
		add_up(&total.objects, a->sites[i].objects);
		add_up(&total.bytes, a->sites[i].bytes);
		add_up(&total.live_objects, a->sites[i].live_objects);
		add_up(&total.live_bytes, a->sites[i].live_bytes);
	}
	return total;
}
