#include "cmd/frames_tell.h"

#include <string.h>

#include "jvm/classes.h"
#include "jvm/ref.h"

#define KNOWN_MAX (1u << 16) /* what is beyond is unknown: 2 MB must do */
#define UNKNOWN 0            /* the number of what cannot be told */
#define TEXT_MAX 1000        /* of a class, a method, a file: 64 frames fit a payload */

#define LINE_UNKNOWN (-1)
#define LINE_NATIVE (-2)

struct texts {
	char *class, *method, *source; /* JVMTI's memory; NULL: not known */
	jint line;
};

int ag_frames_init(struct ag_jvm *jvm, struct ag_frames *frames)
{
	*frames = (struct ag_frames){ 0 };
	if (ag_numbers_init(&frames->known, jvm->mem, KNOWN_MAX) != 0)
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

/* NULL: it is known, or always will be unknown. */
static struct ag_number *slot_if_new(const struct ag_frames *frames,
				     const jvmtiFrameInfo *frame)
{
	uint64_t key = key_of(frame);
	struct ag_number *slot;

	if (key == 0 || frames->known.n == frames->known.max)
		return NULL;
	slot = ag_numbers_probe(&frames->known, key);
	return slot->key == key ? NULL : slot;
}

bool ag_frames_are_new(const struct ag_frames *frames, const jvmtiFrameInfo *list,
			     uint32_t n)
{
	if (frames->n == 0 && n > 0)
		return true;
	for (uint32_t i = 0; i < n; i++) {
		if (slot_if_new(frames, &list[i]))
			return true;
	}
	return false;
}

uint32_t ag_frames_number(const struct ag_frames *frames, const jvmtiFrameInfo *frame)
{
	uint64_t key = key_of(frame);
	const struct ag_number *slot = key ? ag_numbers_probe(&frames->known, key) : NULL;

	return slot && slot->key == key ? slot->number : UNKNOWN;
}

/* Lines stand in no order that anybody promises. */
static jint find_line(const jvmtiLineNumberEntry *table, jint n, jlocation at)
{
	const jvmtiLineNumberEntry *best = NULL;

	for (jint i = 0; i < n; i++) {
		if (table[i].start_location <= at &&
		    (!best || table[i].start_location > best->start_location))
			best = &table[i];
	}
	return best && best->line_number >= 0 ? best->line_number : LINE_UNKNOWN;
}

static jint look_up_line(struct ag_jvm *jvm, const jvmtiFrameInfo *frame)
{
	jvmtiLineNumberEntry *table = NULL;
	jint n = 0, line;

	if (frame->location < 0)
		return LINE_NATIVE;
	if ((*jvm->ti)->GetLineNumberTable(jvm->ti, frame->method, &n, &table) !=
	    JVMTI_ERROR_NONE)
		return LINE_UNKNOWN;
	line = find_line(table, n, frame->location);
	ag_ti_free(jvm, table);
	return line;
}

/* What fails is not known: the method may be gone. */
static void look_up(struct ag_jvm *jvm, const jvmtiFrameInfo *frame, bool moved, struct texts *t)
{
	jvmtiEnv *ti = jvm->ti;
	jclass class = NULL;

	*t = (struct texts){ .line = LINE_UNKNOWN };
	if ((*ti)->GetMethodName(ti, frame->method, &t->method, NULL, NULL) != JVMTI_ERROR_NONE ||
	    (*ti)->GetMethodDeclaringClass(ti, frame->method, &class) != JVMTI_ERROR_NONE)
		return;
	if ((*ti)->GetClassSignature(ti, class, &t->class, NULL) != JVMTI_ERROR_NONE)
		t->class = NULL;
	if ((*ti)->GetSourceFileName(ti, class, &t->source) != JVMTI_ERROR_NONE)
		t->source = NULL;
	ag_ref_drop(jvm, class);
	if (!moved || frame->location < 0)
		t->line = look_up_line(jvm, frame);
}

static void put_text(struct wire_writer *w, const char *text, const char *otherwise)
{
	const char *t = text ? text : otherwise;

	wire_put_text(w, t, strnlen(t, TEXT_MAX));
}

static void put(struct wire_writer *w, const struct texts *t)
{
	put_text(w, t->class, ""); /* which is no signature */
	put_text(w, t->method, "?");
	put_text(w, t->source, "");
	wire_put_i32(w, t->line);
}

static void put_new(struct ag_jvm *jvm, struct ag_frames *frames,
		    const jvmtiFrameInfo *frame, struct wire_writer *w)
{
	struct texts t;

	look_up(jvm, frame, frames->moved, &t);
	put(w, &t);
	ag_ti_free(jvm, t.class);
	ag_ti_free(jvm, t.method);
	ag_ti_free(jvm, t.source);
	(void)ag_numbers_add(&frames->known, key_of(frame), frames->n++); /* there is room */
}

int ag_frames_tell(struct ag_jvm *jvm, struct ag_chan *chan, struct ag_frames *frames,
			 const jvmtiFrameInfo *list, uint32_t n)
{
	const struct texts unknown = { .line = LINE_UNKNOWN };
	struct wire_writer *w = ag_chan_begin(chan), count;
	uint32_t before = frames->n;

	wire_put_u32(w, 0);
	if (frames->n == 0) {
		put(w, &unknown);
		frames->n++;
	}
	for (uint32_t i = 0; i < n && i < WIRE_TRACE_DEPTH; i++) {
		if (slot_if_new(frames, &list[i]))
			put_new(jvm, frames, &list[i], w);
	}
	/* How many there are is known behind them. */
	count = wire_writer_init(w->data, 4);
	if (wire_writer_ok(w))
		wire_put_u32(&count, frames->n - before);
	return ag_chan_end(chan, WIRE_FRAMES);
}
