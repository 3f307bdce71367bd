#include "cmd/alloc_send.h"

#include <string.h>

#define TEXT_MAX 4096 /* limit in bytes for the text of a note */

static uint32_t stack_of(const struct ag_alloc_site *site, jvmtiFrameInfo frames[WIRE_ALLOC_DEPTH])
{
	uint32_t n = site->n_frames < WIRE_ALLOC_DEPTH ? site->n_frames : WIRE_ALLOC_DEPTH;

	for (uint32_t i = 0; i < n; i++)
		frames[i] = (jvmtiFrameInfo){
			.method = (jmethodID)(uintptr_t)site->methods[i],
			.location = site->bcis[i] == AG_NATIVE ? -1 : site->bcis[i],
		};
	return n;
}

static bool has_room(struct ag_alloc_sender *t)
{
	return ag_chan_has_room(t->chan, 0) ||
	       (ag_chan_try_flush(t->chan) == 0 && ag_chan_has_room(t->chan, 0));
}

/*
 * Sends as many buffered frames as it can without waiting.  Every function that sends frames calls
 * finish() last.  If frames remain in the buffer, they are sent later, and finish() returns 0.
 */
static int finish(struct ag_alloc_sender *t)
{
	return ag_chan_try_flush(t->chan);
}

static void put_state(const struct ag_alloc_profile_state *state, struct wire_writer *w)
{
	wire_put_u64(w, state->ns);
	wire_put_u64(w, state->samples);
	wire_put_u64(w, state->bytes);
	wire_put_u64(w, state->dropped);
	wire_put_u32(w, state->sites);
	wire_put_u64(w, state->interval);
	wire_put_u32(w, state->collections);
}

int ag_alloc_send_begun(struct ag_alloc_sender *t)
{
	struct ag_alloc_profile_state state = { 0 };
	struct wire_writer *w;

	ag_alloc_profile_state(t->profile, &state);
	w = ag_chan_begin(t->chan);
	wire_put_u64(w, state.begin_ns);
	wire_put_u32(w, state.hooked);
	wire_put_u32(w, state.refused);
	wire_put_u32(w, state.depth);
	return ag_chan_end(t->chan, WIRE_ALLOC_BEGUN) == 0 ? finish(t) : -1;
}

int ag_alloc_send_state(struct ag_alloc_sender *t)
{
	struct ag_alloc_profile_state state = { 0 };

	if (has_room(t)) {
		ag_alloc_profile_state(t->profile, &state);
		put_state(&state, ag_chan_begin(t->chan));
		if (ag_chan_end(t->chan, WIRE_ALLOC_STATE) != 0)
			return -1;
	}
	return finish(t);
}

static int send_frames(struct ag_alloc_sender *t, bool may_wait)
{
	struct ag_alloc_site site;

	for (; ag_alloc_site(t->profile, t->next_site, &site); t->next_site++) {
		jvmtiFrameInfo stack[WIRE_ALLOC_DEPTH];
		uint32_t n = stack_of(&site, stack);

		if (!ag_frames_are_new(&t->frames, stack, n))
			continue;
		if (!may_wait && !has_room(t))
			break;
		if (ag_frames_send(t->jvm, t->chan, &t->frames, stack, n) != 0)
			return -1;
	}
	return finish(t);
}

int ag_alloc_send_frames(struct ag_alloc_sender *t)
{
	return send_frames(t, false);
}

void ag_alloc_note_lines(struct ag_alloc_sender *t)
{
	struct ag_alloc_site site;

	for (uint32_t i = t->next_site; ag_alloc_site(t->profile, i, &site); i++) {
		jvmtiFrameInfo stack[WIRE_ALLOC_DEPTH];
		uint32_t n = stack_of(&site, stack);

		ag_frames_note(t->jvm, &t->frames, stack, n);
	}
}

static int send_kinds(struct ag_alloc_sender *t)
{
	struct ag_row_batch batch = { .chan = t->chan, .type = WIRE_ALLOC_KINDS };
	const char *signature;

	for (uint32_t i = 0; (signature = ag_alloc_class(t->profile, i)) != NULL; i++) {
		size_t len = strlen(signature);
		struct wire_writer *w = ag_row_batch_row(&batch, 4 + len);

		if (!w)
			return -1;
		wire_put_text(w, signature, len);
	}
	return ag_row_batch_end(&batch);
}

static void put_site(const struct ag_alloc_sender *t, const struct ag_alloc_site *site,
		     struct wire_writer *w)
{
	jvmtiFrameInfo stack[WIRE_ALLOC_DEPTH];
	uint32_t n = stack_of(site, stack);

	wire_put_u32(w, site->kind);
	wire_put_u64(w, site->objects);
	wire_put_u64(w, site->bytes);
	wire_put_u64(w, site->samples);
	wire_put_u64(w, site->live_objects);
	wire_put_u64(w, site->live_bytes);
	wire_put_u32(w, n);
	for (uint32_t i = 0; i < n; i++)
		wire_put_u32(w, ag_frames_number(&t->frames, &stack[i]));
}

/*
 * Sends the counters of those sites whose stack frames and kind the client has: the first n sites,
 * except sites whose kind has the number `kinds` or a higher one.
 */
static int send_counts(struct ag_alloc_sender *t, uint32_t n, uint32_t kinds)
{
	struct ag_row_batch batch = { .chan = t->chan, .type = WIRE_ALLOC_SITES };
	struct ag_alloc_site site;

	for (uint32_t i = 0; i < n && ag_alloc_site(t->profile, i, &site); i++) {
		struct wire_writer *w;

		if (site.kind >= kinds || site.objects + site.bytes + site.samples == 0)
			continue;
		w = ag_row_batch_row(&batch, 48 + 4 * WIRE_ALLOC_DEPTH);
		if (!w)
			return -1;
		put_site(t, &site, w);
	}
	return ag_row_batch_end(&batch);
}

static uint32_t count_kinds(const struct ag_alloc_profile *profile)
{
	uint32_t n = 0;

	while (ag_alloc_class(profile, n))
		n++;
	return n;
}

/*
 * Sends kinds (see alloc_classes.h), stack frames and sites.  Counts the kinds first, because a
 * running recording may add kinds later, whose sites send_counts() must omit.
 */
int ag_alloc_send_sites(struct ag_alloc_sender *t)
{
	uint32_t kinds = count_kinds(t->profile);

	if (send_kinds(t) != 0 || send_frames(t, true) != 0 ||
	    send_counts(t, t->next_site, kinds) != 0)
		return -1;
	return ag_chan_flush(t->chan);
}

int ag_alloc_send_note(void *sender, uint32_t note, const char *text, uint64_t n)
{
	struct ag_alloc_sender *t = sender;
	struct wire_writer *w = ag_chan_begin(t->chan);

	wire_put_u32(w, note);
	wire_put_text(w, text, strnlen(text, TEXT_MAX));
	wire_put_u64(w, n);
	return ag_chan_end(t->chan, WIRE_ALLOC_NOTE);
}

int ag_alloc_send_end(struct ag_alloc_sender *t, uint32_t end, jvmtiError code, uint32_t flags)
{
	struct ag_alloc_profile_state state = { 0 };
	struct wire_writer *w = ag_chan_begin(t->chan);

	if (t->profile)
		ag_alloc_profile_state(t->profile, &state);
	wire_put_u32(w, end);
	wire_put_i32(w, (int32_t)code);
	wire_put_u64(w, state.live_ns);
	wire_put_u32(w, flags);
	put_state(&state, w);
	return ag_chan_end(t->chan, WIRE_ALLOC_END);
}
