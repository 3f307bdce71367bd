#include "cmd/frames_send.h"

#include <string.h>

#include "jvm/frame_names.h"

#define KNOWN_FIRST (1u << 12) /* initial capacity of `known`, which doubles when full */
#define UNKNOWN 0              /* number of the frame that stands for all unknown stack frames */
#define NOT_SENT UINT32_MAX    /* number of a stack frame that is not sent yet */
#define TEXT_MAX 1000          /* limit in bytes for a class, method or file name */
#define FRAME_BYTES (3 * (4 + TEXT_MAX) + 4)

_Static_assert(4 + (1 + WIRE_STACK_DEPTH) * FRAME_BYTES <= AG_CHAN_PAYLOAD,
	       "one payload holds a stack and the unknown frame");

int ag_frames_init(struct ag_jvm *jvm, struct ag_frames *frames, uint32_t max)
{
	*frames = (struct ag_frames){ .max = max };
	if (ag_hash_map_init(&frames->known, jvm->mem, max < KNOWN_FIRST ? max : KNOWN_FIRST) != 0)
		return ag_fail_memory(jvm);
	return 0;
}

void ag_frames_release(struct ag_jvm *jvm, struct ag_frames *frames)
{
	if (frames->known.slots)
		ag_hash_map_release(&frames->known, jvm->mem);
}

/*
 * Returns the key of a stack frame in `known`: its jmethodID and its code offset, which is below
 * 2^16.  Returns 0 if the jmethodID is 2^48 or more.
 */
static uint64_t key_of(const jvmtiFrameInfo *frame)
{
	uint64_t id = (uintptr_t)frame->method;

	return id >> 48 ? 0 : id << 16 | (uint16_t)frame->location;
}

static struct ag_hash_entry *find(const struct ag_frames *frames, const jvmtiFrameInfo *frame)
{
	uint64_t key = key_of(frame);
	struct ag_hash_entry *slot = key ? ag_hash_map_probe(&frames->known, key) : NULL;

	return slot && slot->key == key ? slot : NULL;
}

/* Returns true if the stack frame is not sent yet and `known` has room for it. */
static bool is_new(const struct ag_frames *frames, const jvmtiFrameInfo *frame)
{
	const struct ag_hash_entry *slot = find(frames, frame);

	if (slot)
		return slot->number == NOT_SENT;
	return key_of(frame) != 0 && frames->known.n < frames->max;
}

/* Returns the slot of a stack frame in `known`; adds it if necessary.  Returns NULL if no room. */
static struct ag_hash_entry *take_slot(struct ag_jvm *jvm, struct ag_frames *frames,
				       const jvmtiFrameInfo *frame)
{
	struct ag_hash_entry *slot = find(frames, frame);

	if (slot)
		return slot;
	if (frames->known.n == frames->known.max &&
	    ag_hash_map_grow(&frames->known, jvm->mem, frames->max) != 0) {
		frames->max = frames->known.max; /* no memory: never try to grow again */
		return NULL;
	}
	return ag_hash_map_add(&frames->known, key_of(frame), NOT_SENT);
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
	const struct ag_hash_entry *slot = find(frames, frame);

	return slot && slot->number != NOT_SENT ? slot->number : UNKNOWN;
}

/* Encodes a line number as the note of a map entry.  The note 0 means that no line is stored. */
static uint32_t encode_line(jint line)
{
	return (uint32_t)line - (uint32_t)WIRE_LINE_NATIVE + 1;
}

static jint decode_line(uint32_t note)
{
	return (jint)(note + (uint32_t)WIRE_LINE_NATIVE - 1);
}

void ag_frames_note(struct ag_jvm *jvm, struct ag_frames *frames, const jvmtiFrameInfo *list,
		    uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		struct ag_hash_entry *slot =
			is_new(frames, &list[i]) ? take_slot(jvm, frames, &list[i]) : NULL;

		if (slot && slot->note == 0)
			slot->note = encode_line(ag_frame_line(jvm, &list[i]));
	}
}

static void put_text(struct wire_writer *w, const char *text, const char *fallback)
{
	const char *t = text ? text : fallback;

	wire_put_text(w, t, strnlen(t, TEXT_MAX));
}

static void put(struct wire_writer *w, const struct ag_frame_names *t)
{
	put_text(w, t->class, ""); /* "" means unknown: no class has this signature */
	put_text(w, t->method, "?");
	put_text(w, t->source, "");
	wire_put_i32(w, t->line);
}

static void put_new(struct ag_jvm *jvm, struct ag_frames *frames,
		    const jvmtiFrameInfo *frame, struct wire_writer *w)
{
	struct ag_hash_entry *slot = take_slot(jvm, frames, frame);
	struct ag_frame_names t;

	if (!slot)
		return;
	ag_frame_names_get(jvm, frame, &t);
	if (slot->note != 0)
		t.line = decode_line(slot->note);
	else if (t.method && !frames->restored)
		t.line = ag_frame_line(jvm, frame);
	put(w, &t);
	ag_frame_names_free(jvm, &t);
	slot->number = frames->n++;
}

int ag_frames_send(struct ag_jvm *jvm, struct ag_chan *chan, struct ag_frames *frames,
		   const jvmtiFrameInfo *list, uint32_t n)
{
	const struct ag_frame_names unknown = { .line = WIRE_LINE_UNKNOWN };
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
	/* The count is at the start of the payload, but known only now. */
	count = wire_writer_init(w->data, 4);
	if (wire_writer_ok(w))
		wire_put_u32(&count, frames->n - before);
	return ag_chan_end(chan, WIRE_FRAMES);
}
