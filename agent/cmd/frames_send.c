#include "cmd/frames_tell.h"

#include <string.h>

#include "jvm/frame_texts.h"

#define KNOWN_FIRST (1u << 12) /* room for so many, and for twice as many when they are there */
#define UNKNOWN 0              /* the number of what cannot be told */
#define NOT_TOLD UINT32_MAX    /* of what was noted only */
#define TEXT_MAX 1000          /* of a class, a method, a file */
#define FRAME_BYTES (3 * (4 + TEXT_MAX) + 4)

_Static_assert(4 + (1 + WIRE_STACK_DEPTH) * FRAME_BYTES <= AG_CHAN_PAYLOAD,
	       "a stack, and what is unknown, are told in one frame");

int ag_frames_init(struct ag_jvm *jvm, struct ag_frames *frames, uint32_t max)
{
	*frames = (struct ag_frames){ .max = max };
	if (ag_numbers_init(&frames->known, jvm->mem, max < KNOWN_FIRST ? max : KNOWN_FIRST) != 0)
		return ag_fail_memory(jvm);
	return 0;
}

void ag_frames_release(struct ag_jvm *jvm, struct ag_frames *frames)
{
	if (frames->known.slots)
		ag_numbers_release(&frames->known, jvm->mem);
}

/* A method's id is an address or a number of less than 48 bits; code is shorter than 2^16. */
static uint64_t key_of(const jvmtiFrameInfo *frame)
{
	uint64_t id = (uintptr_t)frame->method;

	return id >> 48 ? 0 : id << 16 | (uint16_t)frame->location;
}

static struct ag_number *find(const struct ag_frames *frames, const jvmtiFrameInfo *frame)
{
	uint64_t key = key_of(frame);
	struct ag_number *slot = key ? ag_numbers_probe(&frames->known, key) : NULL;

	return slot && slot->key == key ? slot : NULL;
}

/* Is it to be told, and can it be? */
static bool is_new(const struct ag_frames *frames, const jvmtiFrameInfo *frame)
{
	const struct ag_number *slot = find(frames, frame);

	if (slot)
		return slot->number == NOT_TOLD;
	return key_of(frame) != 0 && frames->known.n < frames->max;
}

/* The slot of one that is new, made if need be; NULL: there is no room for it. */
static struct ag_number *take_slot(struct ag_jvm *jvm, struct ag_frames *frames,
				   const jvmtiFrameInfo *frame)
{
	struct ag_number *slot = find(frames, frame);

	if (slot)
		return slot;
	if (frames->known.n == frames->known.max &&
	    ag_numbers_grow(&frames->known, jvm->mem, frames->max) != 0) {
		frames->max = frames->known.max; /* no memory: it stays at that */
		return NULL;
	}
	return ag_numbers_add(&frames->known, key_of(frame), NOT_TOLD);
}

bool ag_frames_are_new(const struct ag_frames *frames, const jvmtiFrameInfo *list,
			     uint32_t n)
{
	if (frames->n == 0 && n > 0)
		return true;
	for (uint32_t i = 0; i < n; i++) {
		if (is_new(frames, &list[i]))
			return true;
	}
	return false;
}

uint32_t ag_frames_number(const struct ag_frames *frames, const jvmtiFrameInfo *frame)
{
	const struct ag_number *slot = find(frames, frame);

	return slot && slot->number != NOT_TOLD ? slot->number : UNKNOWN;
}

/* Notes of lines: 0 is none. */
static uint32_t note_of(jint line)
{
	return (uint32_t)line - (uint32_t)WIRE_LINE_NATIVE + 1;
}

static jint noted(uint32_t note)
{
	return (jint)(note + (uint32_t)WIRE_LINE_NATIVE - 1);
}

void ag_frames_note(struct ag_jvm *jvm, struct ag_frames *frames, const jvmtiFrameInfo *list,
		    uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		struct ag_number *slot =
			is_new(frames, &list[i]) ? take_slot(jvm, frames, &list[i]) : NULL;

		if (slot && slot->note == 0)
			slot->note = note_of(ag_frame_line(jvm, &list[i]));
	}
}

static void put_text(struct wire_writer *w, const char *text, const char *otherwise)
{
	const char *t = text ? text : otherwise;

	wire_put_text(w, t, strnlen(t, TEXT_MAX));
}

static void put(struct wire_writer *w, const struct ag_frame_texts *t)
{
	put_text(w, t->class, ""); /* which is no signature */
	put_text(w, t->method, "?");
	put_text(w, t->source, "");
	wire_put_i32(w, t->line);
}

static void put_new(struct ag_jvm *jvm, struct ag_frames *frames,
		    const jvmtiFrameInfo *frame, struct wire_writer *w)
{
	struct ag_number *slot = take_slot(jvm, frames, frame);
	struct ag_frame_texts t;

	if (!slot)
		return;
	ag_frame_names(jvm, frame, &t);
	if (slot->note != 0)
		t.line = noted(slot->note);
	else if (t.method && !frames->moved)
		t.line = ag_frame_line(jvm, frame);
	put(w, &t);
	ag_frame_texts_free(jvm, &t);
	slot->number = frames->n++;
}

int ag_frames_tell(struct ag_jvm *jvm, struct ag_chan *chan, struct ag_frames *frames,
			 const jvmtiFrameInfo *list, uint32_t n)
{
	const struct ag_frame_texts unknown = { .line = WIRE_LINE_UNKNOWN };
	struct wire_writer *w = ag_chan_begin(chan), count;
	uint32_t before = frames->n;

	wire_put_u32(w, 0);
	if (frames->n == 0) {
		put(w, &unknown);
		frames->n++;
	}
	for (uint32_t i = 0; i < n && i < WIRE_STACK_DEPTH; i++) {
		if (is_new(frames, &list[i]))
			put_new(jvm, frames, &list[i], w);
	}
	/* How many there are is known behind them. */
	count = wire_writer_init(w->data, 4);
	if (wire_writer_ok(w))
		wire_put_u32(&count, frames->n - before);
	return ag_chan_end(chan, WIRE_FRAMES);
}
