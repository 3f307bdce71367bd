/*
 * The heap walk in a child process.  snapshot/snapshot.h describes the child.
 * snapshot/walk_order.h describes how the callbacks detect the end of the walk.  graph_walk.c has
 * the callbacks that write the heap stream.
 */
#ifndef __clang__ /* clang does not have this pragma */
#pragma GCC optimize("O2")
#endif

#include "jvm/graph/graph_walk.h"
#include "jvm/snapshot/confine.h"
#include "wire/frame.h"

/*
 * Type of the child's last frame.  Its payload: u32 outcome, u64 id of the agent's thread, u32
 * number of roots without method names.
 */
#define CHILD_END UINT16_MAX

/*
 * The walk has room for ROOTS_BASE roots of JNI and the JVM itself, and for ROOTS_OF_THREAD roots
 * of each thread.  room_for_roots() adds room for classes and for the values of their fields.
 */
#define ROOTS_BASE 16384
#define ROOTS_OF_THREAD 64
#define ROOM_MAX (1u << 24)

static uint32_t room_for_roots(const struct ag_graph_walk *w)
{
	uint64_t room = ROOTS_BASE + 2 * (uint64_t)w->loaded->n + w->mirrors->n +
			(uint64_t)ROOTS_OF_THREAD * w->graph->n_threads;

	for (uint32_t i = 0; i < w->opts->tries && room < ROOM_MAX; i++)
		room *= 4;
	return room < ROOM_MAX ? (uint32_t)room : ROOM_MAX;
}

void ag_graph_leave(struct ag_graph_walk *w)
{
	struct wire_writer *out;

	ag_graph_end_piece(w);
	out = ag_chan_begin(w->chan);
	wire_put_u32(out, w->graph->outcome);
	wire_put_u64(out, ag_graph_is_certain(w) ? w->graph->own_thread : 0);
	wire_put_u32(out, w->nameless);
	if (ag_chan_end(w->chan, CHILD_END) != 0 || ag_chan_flush(w->chan) != 0)
		ag_exit(AG_CHILD_PEER);
	ag_exit(AG_CHILD_DONE);
}

static bool is_shared(const struct ag_graph_walk *w)
{
	const struct ag_shared_maps *maps = w->snapshot->maps;

	for (uint32_t i = 0; i < w->own->n; i++) {
		if (ag_shared_maps_has(maps, ag_graph_address(w->own->objects[i])))
			return true;
	}
	return ag_shared_maps_has(maps, ag_graph_address(w->order.table)) ||
	       ag_shared_maps_has(maps, ag_graph_address(w->order.tail));
}

static void write_own(struct ag_graph_walk *w, jobject own)
{
	ag_graph_write(w, &(struct heap_stream_record){
				 .kind = HEAP_STREAM_OWN,
				 .address = ag_graph_address(own),
			 });
}

/* Runs in the first callback.  Begins the heap stream, unless the heap is in shared memory. */
static void begin(struct ag_graph_walk *w)
{
	if (is_shared(w)) {
		w->snapshot->why = WIRE_SNAPSHOT_SHARED;
		w->begin_ns = ag_now_ns();
		w->over = true;
		return;
	}
	ag_walk_order_begin(&w->order);
	ag_graph_begin(w);
	if (w->over)
		return;
	write_own(w, w->order.table);
	write_own(w, w->order.tail);
	write_own(w, w->order.last);
}

/*
 * Returns true for a root of a thread.  The JVM writes these roots itself, before the clone,
 * because HotSpot creates the id of a root's method when it reports the root.  An id that is
 * created in the child does not exist in the JVM, which would crash when it looks up the method's
 * name.
 *
 * HotSpot reports the roots of threads before all other roots.  The process is cloned right after
 * the last root of a thread, before HotSpot visits an object: otherwise HotSpot of JDK 17 and
 * earlier would walk the complete heap again in the JVM, to restore the marks of the visited
 * objects.
 */
static bool is_of_thread(jvmtiHeapReferenceKind kind)
{
	return kind == JVMTI_HEAP_REFERENCE_THREAD || kind == JVMTI_HEAP_REFERENCE_STACK_LOCAL ||
	       kind == JVMTI_HEAP_REFERENCE_JNI_LOCAL;
}

/* Clones the process.  From here on the walk continues in the child, but is aborted in the JVM. */
static void clone_here(struct ag_graph_walk *w)
{
	if (!ag_graph_flush(w))
		return;
	ag_snapshot_clone(w->snapshot, w->chan);
	w->over = !w->snapshot->inside;
}

static void fill_table(struct ag_graph_walk *w)
{
	const jobject *own = w->own->objects + w->own->n - 1 - AG_GRAPH_ARRAYS;
	uint64_t elements[AG_GRAPH_ARRAYS + 1];
	struct ag_array_layout layout;

	for (uint32_t i = 0; i <= AG_GRAPH_ARRAYS; i++)
		elements[i] = ag_graph_address(own[i]);
	if (!ag_array_layout_find(&layout, w->holder, elements, AG_GRAPH_ARRAYS + 1))
		ag_exit(AG_CHILD_LAYOUT);
	ag_walk_order_fill(&w->order, &layout);
}

/* Gives up the snapshot: in the JVM, ends the walk with `why`; in the child, exits with `code`. */
static jint lose(struct ag_graph_walk *w, enum wire_snapshot_why why, int code)
{
	if (w->snapshot->inside)
		ag_exit(code);
	w->snapshot->why = why;
	w->over = true;
	return JVMTI_VISIT_ABORT;
}

static jint note(struct ag_graph_walk *w, uint64_t object, jint visit)
{
	if (visit & JVMTI_VISIT_ABORT)
		return visit;
	if (visit == JVMTI_VISIT_OBJECTS && !ag_walk_order_note(&w->order, object))
		return lose(w, WIRE_SNAPSHOT_ROOM, AG_CHILD_ROOM);
	return 0;
}

static jint JNICALL on_reference(jvmtiHeapReferenceKind kind, const jvmtiHeapReferenceInfo *info,
				 jlong class_tag, jlong referrer_class_tag, jlong size,
				 jlong *tag, jlong *referrer_tag, jint length, void *user)
{
	struct ag_graph_walk *w = user;
	uint64_t object = (uint64_t)tag[-2], referrer = 0;
	uint32_t index = 0;
	enum ag_walk_step step;
	jint visit;

	if (w->begin_ns == 0)
		begin(w);
	if (!w->over && !w->snapshot->inside && !is_of_thread(kind))
		clone_here(w);
	if (w->over)
		return JVMTI_VISIT_ABORT;
	if (w->snapshot->inside)
		w->snapshot->page->callbacks++;
	if (ag_shared_maps_has(w->snapshot->maps, object))
		return lose(w, WIRE_SNAPSHOT_SHARED, AG_CHILD_SHARED);
	if (referrer_tag)
		referrer = referrer_tag == tag ? object : (uint64_t)referrer_tag[-1];
	if (kind == JVMTI_HEAP_REFERENCE_ARRAY_ELEMENT)
		index = (uint32_t)info->array.index;
	step = ag_walk_order_step(&w->order, kind, referrer, object, index);
	switch (step) {
	case AG_STEP_VISIT:
	case AG_STEP_NOTE:
		break;
	case AG_STEP_ACCEPT:
		if (referrer != 0)
			return JVMTI_VISIT_OBJECTS;
		break;
	case AG_STEP_SKIP:
		return 0;
	case AG_STEP_FILL:
		fill_table(w);
		return 0;
	case AG_STEP_END:
		ag_graph_leave(w);
	case AG_STEP_LOST:
		return lose(w, WIRE_SNAPSHOT_LAYOUT, AG_CHILD_LAYOUT);
	}
	visit = ag_graph_on_reference(kind, info, class_tag, referrer_class_tag, size, tag,
				      referrer_tag, length, user);
	return step == AG_STEP_NOTE ? note(w, object, visit) : visit;
}

/* Reads the child's last frame. */
static int take_end(struct ag_graph_walk *w, const struct wire_writer *frame)
{
	struct wire_reader r = wire_reader_init(frame->data, frame->len);
	struct ag_graph *g = w->graph;

	g->outcome = wire_get_u32(&r);
	g->own_thread = wire_get_u64(&r);
	if (wire_get_u32(&r) > 0)
		g->why = WIRE_SNAPSHOT_NAMES;
	if (wire_reader_ok(&r))
		return 0;
	return ag_fail(w->jvm, "read a snapshot", "its last frame is incomplete");
}

/*
 * Passes the child's frames on to the client until the child ends.  Returns 0, or -1.  After -1,
 * either the channel is broken or the error is recorded.
 */
static int relay(struct ag_graph_walk *w)
{
	struct ag_snapshot *s = w->snapshot;

	for (;;) {
		struct wire_writer *frame = ag_chan_begin(w->chan);
		int type = ag_snapshot_receive(s, w->chan, frame);

		if (type < 0 || w->chan->broken)
			return -1;
		if (type == CHILD_END)
			return take_end(w, frame);
		if (type == 0)
			return 0; /* there is no snapshot; s->why has the reason */
		if (ag_chan_end(w->chan, (uint16_t)type) != 0)
			return -1;
	}
}

static int follow(struct ag_graph_walk *w)
{
	const jvmtiHeapCallbacks callbacks = {
		.heap_reference_callback = on_reference,
		.string_primitive_value_callback =
			w->opts->texts_from ? ag_graph_on_string : NULL,
	};
	struct ag_graph *g = w->graph;
	int64_t cloned_ns;
	int rc;

	if (ag_chan_flush(w->chan) != 0)
		return -1;
	ag_graph_begin_piece(w);
	w->full = w->at - 1; /* no record fits before begin(), which sets `full` */
	rc = AG_JVMTI(w->jvm, FollowReferences, 0, NULL, NULL, &callbacks, w);
	if (w->begin_ns == 0)
		return rc;
	cloned_ns = ag_now_ns();
	g->paused_ns = (uint64_t)(cloned_ns - w->begin_ns);
	g->waited_ns = (uint64_t)w->patience.waited_ns;
	if (rc == 0 && w->snapshot->child > 0)
		rc = relay(w);
	g->child_ns = (uint64_t)(ag_now_ns() - cloned_ns);
	return rc;
}

int ag_graph_follow_snapshot(struct ag_graph_walk *w)
{
	jobject holder = w->own->objects[w->own->n - 1];
	struct ag_snapshot s;
	int rc = 0;

	w->snapshot = &s;
	if (ag_snapshot_init(&s, w->jvm, w->opts->life_ms) == 0) {
		rc = ag_walk_order_make(w->jvm, &w->order, room_for_roots(w), holder);
		if (rc == 0 && ag_is_plain(w->order.table) && ag_is_plain(w->order.tail) &&
		    ag_is_plain(w->order.last))
			rc = follow(w);
		else if (rc == 0)
			s.why = WIRE_SNAPSHOT_LAYOUT;
	}
	if (s.why != WIRE_SNAPSHOT_DONE) {
		w->graph->outcome = WIRE_GRAPHED_NOT;
		w->graph->own_thread = 0;
		w->graph->why = s.why;
		w->graph->code = s.code;
	}
	ag_snapshot_release(&s);
	ag_walk_order_release(w->jvm, &w->order);
	w->snapshot = NULL;
	return rc;
}
