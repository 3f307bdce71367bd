/* The callbacks of the walk.  Optimised for speed, because the JVM is paused while they run. */
#ifndef __clang__ /* clang does not have this pragma */
#pragma GCC optimize("O2")
#endif

#include "jvm/graph/graph_walk.h"

#include "jvm/heap/klass_probe.h"
#include "wire/frame.h"
#include "wire/heap_stream_put.h"

#ifndef AG_GRAPH_PIECE /* maximum bytes of a piece of the heap stream; tests define fewer */
#define AG_GRAPH_PIECE (64u * 1024)
#endif
/*
 * Maximum bytes that one callback writes: the records CLASS, ROOT and MIRROR, AG_MIRROR_FIELDS
 * records FIELD, a record of one reference, and a text.
 */
#define ROOM ((4 + AG_MIRROR_FIELDS) * HEAP_STREAM_RECORD_MAX + HEAP_STREAM_TEXT_MAX)
#define EVERY_ELEMENT ((UINT64_C(2) << AG_GRAPH_ARRAYS) - 1)

static void stop(struct ag_graph_walk *w, enum wire_graphed outcome)
{
	w->over = true;
	w->graph->outcome = outcome;
	if (w->snapshot && w->snapshot->inside)
		ag_graph_leave(w);
}

void ag_graph_begin_piece(struct ag_graph_walk *w)
{
	w->piece = ag_chan_begin(w->chan);
	w->at = w->piece->data;
	w->full = w->at + AG_GRAPH_PIECE - ROOM;
}

void ag_graph_end_piece(struct ag_graph_walk *w)
{
	if (!w->piece || w->at == w->piece->data)
		return;
	w->piece->len = (size_t)(w->at - w->piece->data);
	w->written += w->piece->len;
	(void)ag_chan_end(w->chan, WIRE_HEAP_STREAM); /* an error breaks the channel for good */
}

/*
 * Sends the current piece, begins the next one, and checks the limits of the walk.  A piece has the
 * records of about 10,000 callbacks, so the limits are checked about every ms.
 */
bool ag_graph_flush(struct ag_graph_walk *w)
{
	bool inside = w->snapshot && w->snapshot->inside;
	int rc;

	ag_graph_end_piece(w);
	if (inside)
		rc = ag_chan_flush(w->chan) == 0 ? 1 : -1;
	else
		rc = ag_chan_flush_within(w->chan, &w->patience);
	if (rc > 0)
		ag_graph_begin_piece(w);
	else
		w->piece = NULL;
	if (!inside && ag_now_ns() >= w->patience.until_ns)
		stop(w, WIRE_GRAPHED_LATE);
	else if (rc <= 0)
		stop(w, WIRE_GRAPHED_SLOW);
	else if (w->written + AG_GRAPH_PIECE > w->opts->heap_stream_max)
		stop(w, WIRE_GRAPHED_FULL);
	return !w->over;
}

static void write_class(struct ag_graph_walk *w, uint64_t address, uint32_t number)
{
	ag_graph_write(w, &(struct heap_stream_record){
				 .kind = HEAP_STREAM_CLASS,
				 .address = address,
				 .class = number,
			 });
}

static void write_loaded(struct ag_graph_walk *w)
{
	for (uint32_t i = 0; i < w->loaded->n && !w->over; i++) {
		struct ag_hash_entry *slot;
		uint64_t address;

		if (!w->loaded->list[i])
			continue; /* the class was unloaded */
		address = ag_graph_address(w->loaded->list[i]);
		slot = ag_hash_map_add(&w->classes, address, i);
		if (!slot)
			continue; /* the class is in the list twice, and is written already */
		slot->note = w->referents[i];
		write_class(w, address, i);
		if (w->at > w->full)
			(void)ag_graph_flush(w);
	}
}

/*
 * Gives a number to a class that is not in the class index, and writes its CLASS record.  Tags the
 * class, so that the agent can find it after the walk.  Also writes a ROOT record, as if the agent
 * thread had a local reference to the class: only this record contains the size of the
 * java.lang.Class.  Classes of the class index need no such record: the agent has local references
 * to them, which HotSpot reports as roots.
 */
static struct ag_hash_entry *new_class(struct ag_graph_walk *w, uint64_t address, jlong size,
				       jlong *tag)
{
	uint32_t number = w->loaded->n + w->graph->n_new;
	struct ag_hash_entry *slot = NULL;

	/* A tag that the child sets is not in the JVM, so the agent could not find the class. */
	if (w->snapshot)
		stop(w, WIRE_GRAPHED_CHANGED);
	if (w->graph->n_new < AG_GRAPH_NEW)
		slot = ag_hash_map_add(&w->classes, address, number);
	if (!slot) {
		w->too_many_classes = true;
		w->over = true;
		return NULL;
	}
	slot->note = AG_NO_REFERENT;
	*tag = ++w->graph->n_new;
	write_class(w, address, number);
	ag_graph_write(w, &(struct heap_stream_record){
				 .kind = HEAP_STREAM_ROOT,
				 .root = HEAP_STREAM_ROOT_JNI_LOCAL,
				 .address = address,
				 .thread = w->graph->own_thread,
				 .size = (uint64_t)size,
			 });
	return slot;
}

/*
 * Begins the heap stream: writes the addresses of the classes and of the agent's objects.  Runs in
 * the first callback, because no object moves between the first callback and the end of the walk.
 */
void ag_graph_begin(struct ag_graph_walk *w)
{
	w->begin_ns = ag_now_ns();
	w->patience.until_ns = w->begin_ns + (int64_t)w->opts->pause_ms * 1000000;
	if (w->opts->heap_stream_max < AG_GRAPH_PIECE) {
		stop(w, WIRE_GRAPHED_FULL);
		return;
	}
	if (!ag_vthreads_certain(&w->vthreads)) {
		stop(w, WIRE_GRAPHED_UNKNOWN);
		return;
	}
	w->full = w->at + AG_GRAPH_PIECE - ROOM;
	w->holder = ag_graph_address(w->own->objects[w->own->n - 1]);
	write_loaded(w);
	for (uint32_t i = 0; i < w->own->n && !w->over; i++) {
		ag_graph_write(w, &(struct heap_stream_record){
					 .kind = HEAP_STREAM_OWN,
					 .address = ag_graph_address(w->own->objects[i]),
				 });
		if (w->at > w->full)
			(void)ag_graph_flush(w);
	}
}

static __attribute__((noinline)) void make_room(struct ag_graph_walk *w)
{
	if (w->begin_ns == 0)
		ag_graph_begin(w);
	else
		(void)ag_graph_flush(w);
}

static inline void write_edge(struct ag_graph_walk *w, enum heap_stream_kind kind, uint32_t index,
			      uint64_t object, jlong size, jint length)
{
	uint8_t *at =
		heap_stream_put_first(w->at, kind, object / HEAP_STREAM_WORD, w->state.object);

	at = heap_stream_put(at, index);
	w->at = heap_stream_put_size(at, (uint64_t)size, length >= 0, (uint32_t)length);
}

static inline void on_field(struct ag_graph_walk *w, uint32_t index, uint64_t object, jlong size,
			    jint length)
{
	if (index == w->referent >> 2)
		write_edge(w, HEAP_STREAM_REFERENT, w->referent & 3, object, size, length);
	else
		write_edge(w, HEAP_STREAM_FIELD, index, object, size, length);
}

static void check_element(struct ag_graph_walk *w, uint32_t index, uint64_t object)
{
	const jobject *elements = w->own->objects + w->own->n - 1 - AG_GRAPH_ARRAYS;

	if (index <= AG_GRAPH_ARRAYS && object == ag_graph_address(elements[index]))
		w->seen_elements |= UINT64_C(1) << index;
	else
		stop(w, WIRE_GRAPHED_UNKNOWN);
}

static inline void on_element(struct ag_graph_walk *w, uint32_t index, uint64_t object,
			      jlong size, jint length)
{
	if (w->in_holder)
		check_element(w, index, object);
	write_edge(w, HEAP_STREAM_ELEMENT, index - w->state.element, object, size, length);
	w->state.element = index + 1;
}

static enum heap_stream_link link_of(jvmtiHeapReferenceKind kind)
{
	switch (kind) {
	case JVMTI_HEAP_REFERENCE_SUPERCLASS:
		return HEAP_STREAM_SUPERCLASS;
	case JVMTI_HEAP_REFERENCE_INTERFACE:
		return HEAP_STREAM_INTERFACE;
	case JVMTI_HEAP_REFERENCE_CLASS_LOADER:
		return HEAP_STREAM_LOADER;
	case JVMTI_HEAP_REFERENCE_PROTECTION_DOMAIN:
		return HEAP_STREAM_DOMAIN;
	case JVMTI_HEAP_REFERENCE_SIGNERS:
		return HEAP_STREAM_SIGNERS;
	default:
		return HEAP_STREAM_CONSTANT;
	}
}

static inline void move_to(struct ag_graph_walk *w, uint64_t object)
{
	w->state.object = object / HEAP_STREAM_WORD;
	w->state.element = 0;
}

/*
 * Introduces the object `referrer`.  Called for the reference from an object to its class, which
 * HotSpot reports before the other references of the object.  For a java.lang.Class HotSpot does
 * not report this reference, so on_mirror() introduces a java.lang.Class.
 */
static inline void on_class(struct ag_graph_walk *w, uint64_t referrer, uint64_t class,
			    jlong size, jlong *tag)
{
	const struct ag_hash_entry *slot = ag_hash_map_probe(&w->classes, class);

	if (slot->key == 0) {
		slot = new_class(w, class, size, tag);
		if (!slot)
			return;
	}
	w->at = heap_stream_put_first(w->at, HEAP_STREAM_OBJECT, referrer / HEAP_STREAM_WORD,
				      w->state.object);
	w->at = heap_stream_put(w->at, slot->number);
	w->referent = slot->note;
	w->in_holder = referrer == w->holder;
	move_to(w, referrer);
}

/*
 * Writes a FIELD record for each reference field of a java.lang.Class.  The FIELD records do not
 * contain the sizes of the objects in the fields.  The agent has local references to these objects,
 * so HotSpot reports them as roots, and the ROOT records contain the sizes.
 */
static void write_class_fields(struct ag_graph_walk *w, uint32_t class)
{
	const struct ag_mirrors *m = w->mirrors;

	if (class >= w->loaded->n)
		return; /* the class is not in the class index, so `m` does not have it */
	for (uint32_t i = m->first[class]; i < m->first[class + 1]; i++)
		ag_graph_write(w, &(struct heap_stream_record){
					 .kind = HEAP_STREAM_FIELD,
					 .index = m->list[i].index,
					 .address = ag_graph_address(m->list[i].object),
				 });
}

static void on_mirror(struct ag_graph_walk *w, uint64_t mirror)
{
	const struct ag_hash_entry *slot = ag_hash_map_probe(&w->classes, mirror);

	w->at = heap_stream_put_first(w->at, HEAP_STREAM_MIRROR, mirror / HEAP_STREAM_WORD,
				      w->state.object);
	w->referent = AG_NO_REFERENT;
	w->in_holder = false;
	move_to(w, mirror);
	if (slot->key == 0)
		return;
	w->n_mirrors++;
	write_class_fields(w, slot->number);
}

jint JNICALL ag_graph_on_reference(jvmtiHeapReferenceKind kind, const jvmtiHeapReferenceInfo *info,
				   jlong class_tag, jlong referrer_class_tag, jlong size,
				   jlong *tag, jlong *referrer_tag, jint length, void *user)
{
	struct ag_graph_walk *w = user;
	uint64_t object, referrer;

	(void)referrer_class_tag;
	if (w->at > w->full && !w->over)
		make_room(w);
	/* After an abort, HotSpot still reports the other roots of the thread it is visiting. */
	if (w->over)
		return JVMTI_VISIT_ABORT;
	object = (uint64_t)tag[-2];
	if (!ag_wrapper_ok(tag, size) || object >= HEAP_STREAM_ADDRESS_MAX) {
		stop(w, WIRE_GRAPHED_UNKNOWN);
		return JVMTI_VISIT_ABORT;
	}
	if (!referrer_tag) {
		if (ag_vthread_is_bad(&w->vthreads, class_tag, object))
			return 0;
		ag_graph_on_root(w, kind, info,
				 (struct heap_stream_record){
					 .address = object,
					 .size = (uint64_t)size,
					 .is_array = length >= 0,
					 .length = length >= 0 ? (uint32_t)length : 0,
				 });
		return JVMTI_VISIT_OBJECTS;
	}
	referrer = (uint64_t)(referrer_tag == tag ? object : (uint64_t)referrer_tag[-1]);
	if (kind == JVMTI_HEAP_REFERENCE_CLASS) {
		on_class(w, referrer, object, size, tag);
		return JVMTI_VISIT_OBJECTS;
	}
	if (referrer / HEAP_STREAM_WORD != w->state.object)
		on_mirror(w, referrer);
	if (ag_vthread_is_bad(&w->vthreads, class_tag, object))
		return 0;
	if (kind == JVMTI_HEAP_REFERENCE_FIELD)
		on_field(w, (uint32_t)info->field.index, object, size, length);
	else if (kind == JVMTI_HEAP_REFERENCE_ARRAY_ELEMENT)
		on_element(w, (uint32_t)info->array.index, object, size, length);
	else if (kind == JVMTI_HEAP_REFERENCE_STATIC_FIELD)
		write_edge(w, HEAP_STREAM_STATIC, (uint32_t)info->field.index, object, size,
			   length);
	else
		write_edge(w, HEAP_STREAM_LINK, link_of(kind), object, size, length);
	return JVMTI_VISIT_OBJECTS;
}

jint JNICALL ag_graph_on_string(jlong class_tag, jlong size, jlong *tag, const jchar *value,
				jint length, void *user)
{
	struct ag_graph_walk *w = user;
	uint8_t text[HEAP_STREAM_TEXT_MAX];
	uint32_t n =
		length < HEAP_STREAM_TEXT_MAX / 2 ? (uint32_t)length : HEAP_STREAM_TEXT_MAX / 2;

	(void)class_tag;
	if (w->over || !ag_wrapper_ok(tag, size))
		return 0; /* ag_graph_on_reference() ends the walk */
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
	ag_graph_write(w, &(struct heap_stream_record){
				 .kind = HEAP_STREAM_TEXT,
				 .address = (uint64_t)tag[-2],
				 .form = HEAP_STREAM_UTF16,
				 .text = text,
				 .text_len = 2 * n,
			 });
	return 0;
}

/*
 * A complete walk has proved that the callback wrappers contain addresses if it has seen every
 * element of the holder at its index.
 *
 * An aborted walk may not have reached the elements.  The holder is a root of the agent thread:
 * HotSpot reports the roots of threads first, but follows the references from them last.  So an
 * aborted walk must have seen the holder as a root of the agent thread, and references from at
 * least AG_GRAPH_ARRAYS java.lang.Class objects of known classes.
 */
bool ag_graph_is_certain(const struct ag_graph_walk *w)
{
	if (w->too_many_classes || w->graph->own_thread == 0)
		return false;
	if (w->graph->outcome == WIRE_GRAPHED_COMPLETE)
		return w->seen_elements == EVERY_ELEMENT;
	return w->n_mirrors >= AG_GRAPH_ARRAYS;
}

int ag_graph_follow(struct ag_graph_walk *w)
{
	const jvmtiHeapCallbacks callbacks = {
		.heap_reference_callback = ag_graph_on_reference,
		.string_primitive_value_callback = w->opts->texts_from ? ag_graph_on_string : NULL,
	};
	int rc;

	ag_graph_begin_piece(w);
	w->full = w->at - 1; /* at > full, so the first callback calls ag_graph_begin() */
	rc = AG_JVMTI(w->jvm, FollowReferences, 0, NULL, NULL, &callbacks, w);
	if (w->begin_ns == 0)
		return rc;
	w->graph->paused_ns = (uint64_t)(ag_now_ns() - w->begin_ns);
	w->graph->waited_ns = (uint64_t)w->patience.waited_ns;
	ag_graph_end_piece(w);
	if (!ag_graph_is_certain(w)) {
		w->graph->own_thread = 0;
		if (w->graph->outcome == WIRE_GRAPHED_COMPLETE)
			w->graph->outcome = WIRE_GRAPHED_UNKNOWN;
	}
	return rc;
}
