#include "jvm/dump/dump_internal.h"

#include <time.h>

#include "jvm/jni_refs.h"
#include "wire/frame.h"

#define ROOTS ((size_t)1 << 20) /* maximum number of GC roots; only written pages take memory */
#define LOOK 1024 /* in the JVM, one in 1024 callbacks checks the clock */

/* Gives up the dump: in the JVM ends the walk because of `why`, in the child exits with `code`. */
static jint lose(struct ag_dump *d, enum wire_snapshot_why why, int code)
{
	if (d->snapshot.inside)
		ag_exit(code);
	d->result->why = why;
	d->over = true;
	return JVMTI_VISIT_ABORT;
}

static bool is_late(struct ag_dump *d)
{
	return d->n_calls++ % LOOK == 0 &&
	       ag_now_ns() - d->begin_ns > (int64_t)d->opts->pause_ms * 1000000;
}

/* Returns true for a root that must be read before the clone; graph_snapshot.c has the reason. */
static bool is_of_thread(jvmtiHeapReferenceKind kind)
{
	return kind == JVMTI_HEAP_REFERENCE_THREAD || kind == JVMTI_HEAP_REFERENCE_STACK_LOCAL ||
	       kind == JVMTI_HEAP_REFERENCE_JNI_LOCAL;
}

static void clone_here(struct ag_dump *d)
{
	ag_snapshot_clone(&d->snapshot, d->chan);
	d->over = !d->snapshot.inside;
	d->result->why = d->snapshot.why;
	d->out.progress = &d->snapshot.page->callbacks;
	d->heap.progress = d->out.progress;
}

static void find_addresses(struct ag_dump *d)
{
	struct ag_dump_class *classes = d->layout.classes;

	for (uint32_t i = 0; i < d->layout.n; i++) {
		classes[i].address = ag_graph_address(d->list->list[i]);
		/* Fails only for a class that is in the list twice. */
		(void)ag_hash_map_add(&d->heap.by_address, classes[i].address, i);
	}
	d->object_class = AG_DUMP_NONE;
	for (uint32_t i = 0; i < d->layout.n; i++) {
		jclass super = classes[i].super_ref;

		if (super)
			classes[i].super = ag_dump_mirrored(&d->heap, ag_graph_address(super));
		else if (classes[i].is_object)
			d->object_class = i;
	}
	for (uint32_t i = 0; i < d->layout.n; i++) {
		if (!classes[i].super_ref && i != d->object_class)
			classes[i].super = d->object_class; /* in HPROF interfaces extend Object */
	}
}

/*
 * Runs in the child when HotSpot has reported all roots: finds the layout of classes and arrays,
 * makes HotSpot visit each class (walk_order.h), and writes the head of the dump.
 */
static void begin_child(struct ag_dump *d)
{
	const jobject *own = d->own.objects + d->own.n - 1 - AG_GRAPH_ARRAYS;
	uint64_t elements[AG_GRAPH_ARRAYS + 1];

	for (uint32_t i = 0; i <= AG_GRAPH_ARRAYS; i++)
		elements[i] = ag_graph_address(own[i]);
	if (!ag_klass_probe_measure(&d->samples, &d->heap.probe) ||
	    !ag_klass_probe_map(&d->heap.probe, d->list, &d->heap.by_key))
		ag_exit(AG_CHILD_LAYOUT);
	ag_dump_heap_init(&d->heap, elements[AG_GRAPH_ARRAYS], elements, AG_GRAPH_ARRAYS + 1,
			  ag_graph_address(d->bytes), ag_graph_address(d->longs));
	find_addresses(d);
	if (d->census)
		ag_dump_count_prepare(d);
	for (uint32_t i = 0; i < d->layout.n; i++) {
		if (!ag_walk_order_note(&d->order, d->layout.classes[i].address))
			ag_exit(AG_CHILD_ROOM);
	}
	if (!ag_walk_order_note(&d->order, ag_graph_address(d->own.objects[0])))
		ag_exit(AG_CHILD_ROOM);
	ag_walk_order_fill(&d->order, &d->heap.refs);
	if (!d->census)
		ag_dump_write_head(d);
}

static void write_end(struct ag_dump *d)
{
	ag_dump_write_roots(d);
	ag_hprof_end_segment(&d->out);
	ag_hprof_record(&d->out, AG_HPROF_END, 0);
	ag_hprof_end_piece(&d->out);
}

/* In the child, after HotSpot's walk: writes or counts the objects, and ends the child. */
static void end_child(struct ag_dump *d) __attribute__((noreturn));
static void end_child(struct ag_dump *d)
{
	if (d->census)
		ag_dump_count_begin(&d->heap);
	ag_dump_end_classes(d);
	for (uint32_t i = 0; i < d->n_roots; i++)
		ag_dump_reach(&d->heap, d->roots[i].address);
	ag_dump_objects(&d->heap);
	if (d->census)
		ag_dump_count_send(d);
	else
		write_end(d);
	wire_put_u32(ag_chan_begin(d->chan), d->heap.n_unknown);
	if (ag_chan_end(d->chan, AG_DUMP_CHILD_END) != 0 || ag_chan_flush(d->chan) != 0)
		ag_exit(AG_CHILD_PEER);
	ag_exit(AG_CHILD_DONE);
}

static jint JNICALL on_reference(jvmtiHeapReferenceKind kind, const jvmtiHeapReferenceInfo *info,
				 jlong class_tag, jlong referrer_class_tag, jlong size,
				 jlong *tag, jlong *referrer_tag, jint length, void *user)
{
	struct ag_dump *d = user;
	uint64_t object = (uint64_t)tag[-2], referrer = 0;
	uint32_t index = 0;

	(void)class_tag, (void)referrer_class_tag, (void)length;
	if (d->begin_ns == 0) {
		d->begin_ns = ag_now_ns();
		ag_walk_order_begin(&d->order);
	}
	if (!d->over && !d->snapshot.inside && !is_of_thread(kind))
		clone_here(d);
	if (d->over)
		return JVMTI_VISIT_ABORT;
	if (d->snapshot.inside)
		d->snapshot.page->callbacks++;
	else if (is_late(d))
		return lose(d, WIRE_SNAPSHOT_LATE, 0);
	if (!ag_wrapper_ok(tag, size) || object >= HEAP_STREAM_ADDRESS_MAX)
		return lose(d, WIRE_SNAPSHOT_LAYOUT, AG_CHILD_LAYOUT);
	if (ag_shared_maps_has(d->snapshot.maps, object))
		return lose(d, WIRE_SNAPSHOT_SHARED, AG_CHILD_SHARED);
	if (referrer_tag)
		referrer = referrer_tag == tag ? object : (uint64_t)referrer_tag[-1];
	if (d->snapshot.inside && d->census && d->order.all_roots)
		ag_dump_count_verify(&d->heap, object, (uint64_t)size);
	if (kind == JVMTI_HEAP_REFERENCE_ARRAY_ELEMENT)
		index = (uint32_t)info->array.index;
	switch (ag_walk_order_step(&d->order, kind, referrer, object, index)) {
	case AG_STEP_VISIT:
		return referrer ? ag_dump_edge(d, kind, info, referrer, object) : 0;
	case AG_STEP_NOTE:
		if (!ag_dump_root(d, kind, info, object))
			return lose(d, WIRE_SNAPSHOT_ROOM, AG_CHILD_ROOM);
		return 0;
	case AG_STEP_ACCEPT:
		return JVMTI_VISIT_OBJECTS;
	case AG_STEP_SKIP:
		return 0;
	case AG_STEP_FILL:
		begin_child(d);
		return 0;
	case AG_STEP_END:
		end_child(d);
	default:
		return lose(d, WIRE_SNAPSHOT_LAYOUT, AG_CHILD_LAYOUT);
	}
}

static jobject new_pattern(struct ag_jvm *jvm, bool is_long)
{
	jlong longs[AG_DUMP_PATTERN];
	jbyte bytes[AG_DUMP_PATTERN];
	JNIEnv *jni = jvm->jni;
	jobject array = is_long ? (*jni)->NewLongArray(jni, AG_DUMP_PATTERN)
				: (*jni)->NewByteArray(jni, AG_DUMP_PATTERN);

	if (ag_ref_threw(jvm, "NewArray"))
		return NULL;
	for (int i = 0; i < AG_DUMP_PATTERN; i++) {
		longs[i] = i + 1;
		bytes[i] = (jbyte)(i + 1);
	}
	if (is_long)
		(*jni)->SetLongArrayRegion(jni, array, 0, AG_DUMP_PATTERN, longs);
	else
		(*jni)->SetByteArrayRegion(jni, array, 0, AG_DUMP_PATTERN, bytes);
	if (!ag_ref_threw(jvm, "SetArrayRegion"))
		return array;
	ag_ref_drop(jvm, array);
	return NULL;
}

/* Creates d->samples.  Returns 1; 0 if a reference is not ag_is_plain(); -1 after an error. */
static int make_samples(struct ag_dump *d)
{
	struct ag_jvm *jvm = d->jvm;

	if (ag_self_objects_add_thread(jvm, &d->sampled) != 0)
		return -1;
	if (ag_klass_samples_make(jvm, &d->samples, &d->sampled) == 0)
		return 1;
	return jvm->err.what ? -1 : 0;
}

static bool are_plain(const struct ag_dump *d)
{
	bool plain = ag_is_plain(d->bytes) && ag_is_plain(d->longs) &&
		     ag_is_plain(d->order.table) && ag_is_plain(d->order.tail);

	for (uint32_t i = 0; i < d->list->n && plain; i++)
		plain = ag_is_plain(d->list->list[i]) &&
			(!d->layout.classes[i].super_ref ||
			 ag_is_plain(d->layout.classes[i].super_ref));
	for (uint32_t i = 0; i < d->stacks.n_methods && plain; i++)
		plain = !d->stacks.methods[i].class || ag_is_plain(d->stacks.methods[i].class);
	for (uint32_t i = 1; i <= d->layout.loaders.n && plain; i++)
		plain = ag_is_plain(d->layout.loaders.refs[i]);
	for (uint32_t i = 0; i < d->own.n && plain; i++)
		plain = ag_is_plain(d->own.objects[i]);
	for (uint32_t i = 0; i < d->graph.n_threads && plain; i++)
		plain = ag_is_plain(d->graph.threads[i].thread);
	return plain;
}

#define CONSTANTS_SIZE (AG_DUMP_CONSTANTS * sizeof(struct ag_dump_constant))

/* Allocates the memory for the callbacks, because a callback must not call an allocator. */
static int make_room(struct ag_dump *d)
{
	d->roots = ag_dump_map(ROOTS * sizeof(*d->roots));
	d->max_roots = ROOTS;
	d->constants = ag_dump_map(CONSTANTS_SIZE);
	d->out.segment = ag_dump_map(AG_HPROF_SEGMENT_MAX);
	if (!d->roots || !d->constants || !d->out.segment ||
	    (d->census && ag_dump_count_make(d) != 0) ||
	    ag_dump_heap_reserve(&d->heap) != 0 ||
	    ag_class_map_init(&d->heap.by_key, d->jvm->mem, d->list->n) != 0 ||
	    ag_hash_map_init(&d->heap.by_address, d->jvm->mem, d->list->n) != 0)
		return ag_fail_memory(d->jvm);
	d->heap.layout = &d->layout;
	d->heap.out = &d->out;
	return 0;
}

static void find_own_thread(struct ag_dump *d)
{
	d->own_thread = AG_DUMP_NONE;
	for (uint32_t i = 0; i < d->graph.n_threads; i++) {
		if ((*d->jvm->jni)->IsSameObject(d->jvm->jni, d->graph.threads[i].thread,
						 d->own.objects[0]))
			d->own_thread = i;
	}
}

static int follow(struct ag_dump *d)
{
	const jvmtiHeapCallbacks callbacks = { .heap_reference_callback = on_reference };
	int64_t cloned_ns;
	int rc;

	ag_hprof_end_piece(&d->out);
	if (ag_chan_flush(d->chan) != 0)
		return -1;
	rc = AG_JVMTI(d->jvm, FollowReferences, 0, NULL, NULL, &callbacks, d);
	if (d->begin_ns == 0)
		return rc;
	cloned_ns = ag_now_ns();
	d->result->paused_ns = (uint64_t)(cloned_ns - d->begin_ns);
	if (rc == 0 && d->snapshot.child > 0)
		rc = ag_dump_relay(d);
	else if (rc == 0 && d->snapshot.child <= 0 && d->result->why == WIRE_SNAPSHOT_DONE)
		d->result->why = WIRE_SNAPSHOT_LAYOUT;
	d->result->child_ns = (uint64_t)(ag_now_ns() - cloned_ns);
	return rc;
}

static int take_snapshot(struct ag_dump *d)
{
	int rc = ag_walk_order_make(d->jvm, &d->order, d->list->n + 16,
				    d->own.objects[d->own.n - 1]);

	if (rc == 0 && !are_plain(d))
		d->result->why = WIRE_SNAPSHOT_LAYOUT;
	else if (rc == 0)
		rc = follow(d);
	ag_walk_order_release(d->jvm, &d->order);
	return rc;
}

static uint64_t now_ms(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_REALTIME, &t); /* cannot fail for this clock */
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

static int prepare(struct ag_dump *d)
{
	struct ag_jvm *jvm = d->jvm;

	if (ag_graph_list_threads(jvm, &d->graph) != 0 || ag_graph_make_own(jvm, &d->own) != 0)
		return -1;
	find_own_thread(d);
	d->bytes = new_pattern(jvm, false);
	d->longs = d->bytes ? new_pattern(jvm, true) : NULL;
	if (!d->longs)
		return -1;
	ag_hprof_header(&d->out, now_ms());
	if (ag_dump_layout_read(jvm, &d->out, d->list, &d->layout) != 0)
		return -1;
	if (!d->census &&
	    ag_dump_stacks_read(jvm, &d->out, &d->graph, &d->layout, &d->stacks) != 0)
		return -1;
	return make_room(d);
}

static void release(struct ag_dump *d)
{
	struct ag_jvm *jvm = d->jvm;

	ag_snapshot_release(&d->snapshot);
	ag_dump_heap_release(&d->heap);
	ag_class_map_release(&d->heap.by_key, jvm->mem);
	ag_hash_map_release(&d->heap.by_address, jvm->mem);
	ag_dump_unmap(d->roots, ROOTS * sizeof(*d->roots));
	ag_dump_unmap(d->constants, CONSTANTS_SIZE);
	ag_dump_unmap(d->out.segment, AG_HPROF_SEGMENT_MAX);
	ag_dump_count_release(d);
	ag_dump_stacks_release(jvm, &d->stacks);
	ag_dump_layout_release(jvm, &d->layout);
	ag_ref_drop(jvm, d->bytes);
	ag_ref_drop(jvm, d->longs);
	ag_self_objects_forget(jvm, &d->own, 0);
	ag_self_objects_forget(jvm, &d->sampled, 0);
	for (uint32_t i = 0; i < AG_KLASS_SAMPLES; i++)
		ag_ref_drop(jvm, d->samples.mirrors[i]);
	ag_graph_release(jvm, &d->graph);
}

static int dump_classes(struct ag_dump *d)
{
	struct ag_classes list;
	int rc = ag_classes_get(d->jvm, &list);

	if (rc != 0)
		return -1;
	d->list = &list;
	rc = ag_ref_expect(d->jvm, (jint)list.n + 64);
	if (rc == 0)
		rc = prepare(d);
	if (rc == 0)
		rc = take_snapshot(d);
	if (rc == 0 && d->census && d->result->why == WIRE_SNAPSHOT_DONE)
		rc = ag_census_make(d->jvm, &list, d->tallies, d->census);
	ag_classes_release(d->jvm, &list);
	d->list = NULL;
	return rc;
}

/* Writes the dump.  If no snapshot is possible, returns before the agent reads or links a class. */
static int dump(struct ag_dump *d)
{
	int rc;

	if (ag_snapshot_init(&d->snapshot, d->jvm, d->opts->life_ms) != 0) {
		d->result->why = d->snapshot.why;
		return 0;
	}
	rc = make_samples(d);
	if (rc == 0)
		d->result->why = WIRE_SNAPSHOT_LAYOUT;
	if (rc <= 0)
		return rc;
	return ag_dump_link(d->jvm) == 0 ? dump_classes(d) : -1;
}

static int run(struct ag_jvm *jvm, struct ag_chan *chan, const struct ag_dump_opts *opts,
	       struct ag_dump_result *result, struct ag_census *census)
{
	struct ag_dump d = {
		.jvm = jvm, .chan = chan, .opts = opts, .result = result, .census = census,
		.out = { .chan = chan, .off = census },
		.snapshot = { .jvm = jvm, .ends = { -1, -1 } },
	};
	int rc;

	*result = (struct ag_dump_result){ 0 };
	rc = dump(&d);
	result->code = d.snapshot.code;
	ag_hprof_end_piece(&d.out);
	release(&d);
	return chan->broken ? -1 : rc;
}

int ag_heap_dump(struct ag_jvm *jvm, struct ag_chan *chan, const struct ag_dump_opts *opts,
		 struct ag_dump_result *result)
{
	return run(jvm, chan, opts, result, NULL);
}

int ag_heap_count(struct ag_jvm *jvm, struct ag_chan *chan, const struct ag_dump_opts *opts,
		  struct ag_dump_result *result, struct ag_census *census)
{
	*census = (struct ag_census){ 0 };
	return run(jvm, chan, opts, result, census);
}
