/*
 * The callbacks of a walk along all references.  Built for speed, and the rest for size: the JVM
 * stands still meanwhile.
 */
#ifndef __clang__ /* which has no such pragma */
#pragma GCC optimize("O2")
#endif

#include "jvm/graph_walk.h"

#include "jvm/calib.h"
#include "wire/frame.h"
#include "wire/tape_put.h"

#ifndef AG_GRAPH_PIECE /* tests have smaller heaps */
#define AG_GRAPH_PIECE (64u * 1024)
#endif
/* What one callback may write: a class, its root, an object's record and what else it tells. */
#define ROOM ((4 + AG_MIRROR_FIELDS) * TAPE_RECORD_MAX + TAPE_TEXT_MAX)
#define EVERY_ELEMENT ((UINT64_C(2) << AG_GRAPH_ARRAYS) - 1)

static void stop(struct ag_graph_walk *w, enum wire_graphed outcome)
{
	w->over = true;
	w->graph->outcome = outcome;
}

/* Pieces */

static void begin_piece(struct ag_graph_walk *w)
{
	w->piece = ag_chan_begin(w->chan);
	w->at = w->piece->data;
	w->full = w->at + AG_GRAPH_PIECE - ROOM;
}

static void end_piece(struct ag_graph_walk *w)
{
	w->piece->len = (size_t)(w->at - w->piece->data);
	w->told += w->piece->len;
	(void)ag_chan_end(w->chan, WIRE_TAPE); /* a broken channel stays so */
}

/* A piece is 10,000 callbacks or so, a millisecond: often enough to look at the clock. */
static void next_piece(struct ag_graph_walk *w)
{
	int rc;

	end_piece(w);
	rc = ag_chan_hurry(w->chan, &w->patience);
	if (rc > 0)
		begin_piece(w);
	if (ag_now_ns() >= w->patience.until_ns)
		stop(w, WIRE_GRAPHED_LATE);
	else if (rc <= 0)
		stop(w, WIRE_GRAPHED_SLOW);
	else if (w->told + AG_GRAPH_PIECE > w->opts->tape_max)
		stop(w, WIRE_GRAPHED_FULL);
	if (rc <= 0)
		w->piece = NULL;
}

/* Classes */

static void tell_class(struct ag_graph_walk *w, uint64_t address, uint32_t number)
{
	ag_graph_tell(w, &(struct tape_record){
		.kind = TAPE_CLASS, .address = address, .class = number,
	});
}

static void tell_roster(struct ag_graph_walk *w)
{
	for (uint32_t i = 0; i < w->roster->n && !w->over; i++) {
		struct ag_number *slot;
		uint64_t address;

		if (!w->roster->list[i])
			continue; /* it was unloaded */
		address = ag_graph_address(w->roster->list[i]);
		slot = ag_numbers_add(&w->classes, address, i);
		if (!slot)
			continue; /* told already */
		slot->note = w->notes[i];
		tell_class(w, address, i);
		if (w->at > w->full)
			next_piece(w);
	}
}

/*
 * A class that was loaded after the roster was made.  It is tagged, so that it can be named
 * after the walk.  What tells its size is a root of our thread's, as the roster's classes are.
 */
static struct ag_number *new_class(struct ag_graph_walk *w, uint64_t address, jlong size,
				   jlong *tag)
{
	uint32_t number = w->roster->n + w->graph->n_new;
	struct ag_number *slot = NULL;

	if (w->graph->n_new < AG_GRAPH_NEW)
		slot = ag_numbers_add(&w->classes, address, number);
	if (!slot) {
		w->crowded = true;
		w->over = true;
		return NULL;
	}
	slot->note = AG_NO_REFERENT;
	*tag = ++w->graph->n_new;
	tell_class(w, address, number);
	ag_graph_tell(w, &(struct tape_record){
		.kind = TAPE_ROOT, .root = TAPE_ROOT_JNI_LOCAL, .address = address,
		.thread = w->graph->own_thread, .size = (uint64_t)size,
	});
	return slot;
}

/* The beginning: no object moves any more, so addresses hold. */

static void begin(struct ag_graph_walk *w)
{
	w->begin_ns = ag_now_ns();
	w->patience.until_ns = w->begin_ns + (int64_t)w->opts->pause_ms * 1000000;
	if (w->opts->tape_max < AG_GRAPH_PIECE) {
		stop(w, WIRE_GRAPHED_FULL);
		return;
	}
	if (!ag_vthreads_certain(&w->vthreads)) {
		stop(w, WIRE_GRAPHED_UNKNOWN);
		return;
	}
	w->full = w->at + AG_GRAPH_PIECE - ROOM;
	w->holder = ag_graph_address(w->own->objects[w->own->n - 1]);
	tell_roster(w);
	for (uint32_t i = 0; i < w->own->n && !w->over; i++) {
		ag_graph_tell(w, &(struct tape_record){
			.kind = TAPE_OWN, .address = ag_graph_address(w->own->objects[i]),
		});
		if (w->at > w->full)
			next_piece(w);
	}
}

static __attribute__((noinline)) void make_room(struct ag_graph_walk *w)
{
	if (w->begin_ns == 0)
		begin(w);
	else
		next_piece(w);
}

/* References */

static inline void tell_edge(struct ag_graph_walk *w, enum tape_kind kind, uint32_t index,
			     uint64_t object, jlong size, jint length)
{
	uint8_t *at = tape_put_first(w->at, kind, object / TAPE_WORD, w->place.object);

	at = tape_put(at, index);
	w->at = tape_put_size(at, (uint64_t)size, length >= 0, (uint32_t)length);
}

static inline void on_field(struct ag_graph_walk *w, uint32_t index, uint64_t object, jlong size,
			    jint length)
{
	if (index == w->note >> 2)
		tell_edge(w, TAPE_REFERENT, w->note & 3, object, size, length);
	else
		tell_edge(w, TAPE_FIELD, index, object, size, length);
}

static void check_element(struct ag_graph_walk *w, uint32_t index, uint64_t object)
{
	const jobject *elements = w->own->objects + w->own->n - 1 - AG_GRAPH_ARRAYS;

	if (index <= AG_GRAPH_ARRAYS && object == ag_graph_address(elements[index]))
		w->in_place |= UINT64_C(1) << index;
	else
		stop(w, WIRE_GRAPHED_UNKNOWN);
}

static inline void on_element(struct ag_graph_walk *w, uint32_t index, uint64_t object,
			      jlong size, jint length)
{
	if (w->in_holder)
		check_element(w, index, object);
	tell_edge(w, TAPE_ELEMENT, index - w->place.element, object, size, length);
	w->place.element = index + 1;
}

static enum tape_link link_of(jvmtiHeapReferenceKind kind)
{
	switch (kind) {
	case JVMTI_HEAP_REFERENCE_SUPERCLASS:
		return TAPE_SUPERCLASS;
	case JVMTI_HEAP_REFERENCE_INTERFACE:
		return TAPE_INTERFACE;
	case JVMTI_HEAP_REFERENCE_CLASS_LOADER:
		return TAPE_LOADER;
	case JVMTI_HEAP_REFERENCE_PROTECTION_DOMAIN:
		return TAPE_DOMAIN;
	case JVMTI_HEAP_REFERENCE_SIGNERS:
		return TAPE_SIGNERS;
	default:
		return TAPE_CONSTANT;
	}
}

static inline void move_to(struct ag_graph_walk *w, uint64_t object)
{
	w->place.object = object / TAPE_WORD;
	w->place.element = 0;
}

/* The first reference of every object but a java.lang.Class is the one to its class. */
static inline void on_class(struct ag_graph_walk *w, uint64_t referrer, uint64_t class,
			    jlong size, jlong *tag)
{
	const struct ag_number *slot = ag_numbers_probe(&w->classes, class);

	if (slot->key == 0) {
		slot = new_class(w, class, size, tag);
		if (!slot)
			return;
	}
	w->at = tape_put_first(w->at, TAPE_OBJECT, referrer / TAPE_WORD, w->place.object);
	w->at = tape_put(w->at, slot->number);
	w->note = slot->note;
	w->in_holder = referrer == w->holder;
	move_to(w, referrer);
}

/* Their sizes are told by our references to them, which are roots. */
static void tell_held(struct ag_graph_walk *w, uint32_t class)
{
	const struct ag_mirrors *m = w->mirrors;

	if (class >= w->roster->n)
		return; /* it was loaded since */
	for (uint32_t i = m->first[class]; i < m->first[class + 1]; i++)
		ag_graph_tell(w, &(struct tape_record){
			.kind = TAPE_FIELD, .index = m->list[i].index,
			.address = ag_graph_address(m->list[i].object),
		});
}

static void on_mirror(struct ag_graph_walk *w, uint64_t mirror)
{
	const struct ag_number *slot = ag_numbers_probe(&w->classes, mirror);

	w->at = tape_put_first(w->at, TAPE_MIRROR, mirror / TAPE_WORD, w->place.object);
	w->note = AG_NO_REFERENT;
	w->in_holder = false;
	move_to(w, mirror);
	if (slot->key == 0)
		return;
	w->n_mirrors++;
	tell_held(w, slot->number);
}

static jint JNICALL on_reference(jvmtiHeapReferenceKind kind, const jvmtiHeapReferenceInfo *info,
				 jlong class_tag, jlong referrer_class_tag, jlong size,
				 jlong *tag, jlong *referrer_tag, jint length, void *user)
{
	struct ag_graph_walk *w = user;
	uint64_t object, referrer;

	(void)referrer_class_tag;
	if (w->at > w->full && !w->over)
		make_room(w);
	/* Among a thread's roots HotSpot heeds an abort only when it comes to the next thread. */
	if (w->over)
		return JVMTI_VISIT_ABORT;
	object = (uint64_t)tag[-2];
	if (!ag_wrapper_ok(tag, size) || object >= TAPE_ADDRESS_MAX) {
		stop(w, WIRE_GRAPHED_UNKNOWN);
		return JVMTI_VISIT_ABORT;
	}
	if (!referrer_tag) {
		if (ag_vthread_is_bad(&w->vthreads, class_tag, object))
			return 0;
		ag_graph_on_root(w, kind, info, (struct tape_record){
			.address = object, .size = (uint64_t)size, .is_array = length >= 0,
			.length = length >= 0 ? (uint32_t)length : 0,
		});
		return JVMTI_VISIT_OBJECTS;
	}
	referrer = (uint64_t)(referrer_tag == tag ? object : (uint64_t)referrer_tag[-1]);
	if (kind == JVMTI_HEAP_REFERENCE_CLASS) {
		on_class(w, referrer, object, size, tag);
		return JVMTI_VISIT_OBJECTS;
	}
	if (referrer / TAPE_WORD != w->place.object)
		on_mirror(w, referrer);
	if (ag_vthread_is_bad(&w->vthreads, class_tag, object))
		return 0;
	if (kind == JVMTI_HEAP_REFERENCE_FIELD)
		on_field(w, (uint32_t)info->field.index, object, size, length);
	else if (kind == JVMTI_HEAP_REFERENCE_ARRAY_ELEMENT)
		on_element(w, (uint32_t)info->array.index, object, size, length);
	else if (kind == JVMTI_HEAP_REFERENCE_STATIC_FIELD)
		tell_edge(w, TAPE_STATIC, (uint32_t)info->field.index, object, size, length);
	else
		tell_edge(w, TAPE_LINK, link_of(kind), object, size, length);
	return JVMTI_VISIT_OBJECTS;
}

static jint JNICALL on_string(jlong class_tag, jlong size, jlong *tag, const jchar *value,
			      jint length, void *user)
{
	struct ag_graph_walk *w = user;
	uint8_t text[TAPE_TEXT_MAX];
	uint32_t n = length < TAPE_TEXT_MAX / 2 ? (uint32_t)length : TAPE_TEXT_MAX / 2;

	(void)class_tag;
	if (w->over || !ag_wrapper_ok(tag, size))
		return 0; /* the next reference ends the walk */
	if (length < 0 || (uint32_t)length < w->opts->texts_from)
		return 0;
	for (uint32_t i = 0; i < n; i++) {
		text[2 * i] = (uint8_t)(value[i] >> 8);
		text[2 * i + 1] = (uint8_t)value[i];
	}
	if (w->at > w->full)
		make_room(w);
	if (w->over)
		return JVMTI_VISIT_ABORT;
	ag_graph_tell(w, &(struct tape_record){
		.kind = TAPE_TEXT, .address = (uint64_t)tag[-2], .form = TAPE_UTF16,
		.text = text, .text_len = 2 * n,
	});
	return 0;
}

/*
 * Do the wrappers show addresses?  Threads' roots come first but are visited last, and with them
 * our array.  A walk that was ended before has seen the array's own address, and that of a class
 * as the referrer wherever there had to be one.
 */
static bool is_certain(const struct ag_graph_walk *w)
{
	if (w->crowded || w->graph->own_thread == 0)
		return false;
	if (w->graph->outcome == WIRE_GRAPHED_WHOLE)
		return w->in_place == EVERY_ELEMENT;
	return w->n_mirrors >= AG_GRAPH_ARRAYS;
}

int ag_graph_follow(struct ag_graph_walk *w)
{
	const jvmtiHeapCallbacks callbacks = {
		.heap_reference_callback = on_reference,
		.string_primitive_value_callback = w->opts->texts_from ? on_string : NULL,
	};
	int rc;

	begin_piece(w);
	w->full = w->at - 1; /* the first callback finds no room, and begins */
	rc = AG_TI(w->jvm, FollowReferences, 0, NULL, NULL, &callbacks, w);
	if (w->begin_ns == 0)
		return rc;
	w->graph->paused_ns = (uint64_t)(ag_now_ns() - w->begin_ns);
	w->graph->waited_ns = (uint64_t)w->patience.waited_ns;
	if (w->piece && w->at > w->piece->data)
		end_piece(w);
	if (!is_certain(w)) {
		w->graph->own_thread = 0;
		if (w->graph->outcome == WIRE_GRAPHED_WHOLE)
			w->graph->outcome = WIRE_GRAPHED_UNKNOWN;
	}
	return rc;
}
