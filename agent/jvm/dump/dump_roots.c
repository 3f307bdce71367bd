/* Writes GC roots, and the threads and stack frames to which they belong. */
#include "jvm/dump/dump_internal.h"

#define NO_FRAME UINT32_MAX
#define FIRST_TRACE 2u /* serial number of thread 0's trace; AG_HPROF_NO_TRACE is lower */

/*
 * Returns the index in graph.threads of the thread whose java.lang.Thread is at `address`; if
 * `address` is 0, of the thread with this `id`; AG_DUMP_NONE if there is none.  The search begins
 * at next_thread, because HotSpot reports the threads in the order of graph.threads.
 */
static uint32_t thread_by(struct ag_dump *d, uint64_t id, uint64_t address)
{
	const struct ag_graph *g = &d->graph;

	for (uint32_t i = 0; i < g->n_threads; i++) {
		uint32_t k = (d->next_thread + i) % g->n_threads;

		if (address ? ag_graph_address(g->threads[k].thread) != address
			    : g->threads[k].id != id)
			continue;
		d->next_thread = k;
		return k;
	}
	return AG_DUMP_NONE;
}

static void describe(struct ag_dump *d, jvmtiHeapReferenceKind kind,
		     const jvmtiHeapReferenceInfo *info, struct ag_dump_root *root)
{
	root->thread = AG_DUMP_NONE;
	switch (kind) {
	case JVMTI_HEAP_REFERENCE_JNI_LOCAL:
		root->tag = AG_HPROF_ROOT_JNI_LOCAL;
		root->thread = thread_by(d, (uint64_t)info->jni_local.thread_id, 0);
		root->depth = (uint32_t)info->jni_local.depth;
		root->method = info->jni_local.method;
		break;
	case JVMTI_HEAP_REFERENCE_STACK_LOCAL:
		root->tag = AG_HPROF_ROOT_JAVA_FRAME;
		root->thread = thread_by(d, (uint64_t)info->stack_local.thread_id, 0);
		root->depth = (uint32_t)info->stack_local.depth;
		root->method = info->stack_local.method;
		break;
	case JVMTI_HEAP_REFERENCE_THREAD:
		root->tag = AG_HPROF_ROOT_THREAD;
		root->thread = thread_by(d, 0, root->address);
		break;
	case JVMTI_HEAP_REFERENCE_JNI_GLOBAL:
		root->tag = AG_HPROF_ROOT_JNI_GLOBAL;
		break;
	case JVMTI_HEAP_REFERENCE_SYSTEM_CLASS:
		root->tag = AG_HPROF_ROOT_STICKY_CLASS;
		break;
	case JVMTI_HEAP_REFERENCE_MONITOR:
		root->tag = AG_HPROF_ROOT_MONITOR_USED;
		break;
	default:
		root->tag = AG_HPROF_ROOT_UNKNOWN;
	}
	/*
	 * If the thread is not in graph.threads, for example because it is a virtual thread, the
	 * roots in its frames get the tag "unknown".
	 */
	if (root->thread == AG_DUMP_NONE && (root->tag == AG_HPROF_ROOT_JNI_LOCAL ||
					     root->tag == AG_HPROF_ROOT_JAVA_FRAME))
		root->tag = AG_HPROF_ROOT_UNKNOWN;
}

bool ag_dump_root(struct ag_dump *d, jvmtiHeapReferenceKind kind,
		  const jvmtiHeapReferenceInfo *info, uint64_t address)
{
	struct ag_dump_root *root = &d->roots[d->n_roots];

	if (d->n_roots == d->max_roots)
		return false;
	*root = (struct ag_dump_root){ .address = address };
	describe(d, kind, info, root);
	if (root->thread == AG_DUMP_NONE || root->thread != d->own_thread)
		d->n_roots++;
	return true;
}

/*
 * Returns the serial number in the LOAD_CLASS record of a class; 0 if the class is not in the class
 * list.
 */
static uint32_t serial_of(const struct ag_dump *d, jclass class)
{
	return class ? ag_dump_mirrored(&d->heap, ag_graph_address(class)) + 1 : 0;
}

static void write_classes(struct ag_dump *d)
{
	for (uint32_t i = 0; i < d->layout.n; i++) {
		const struct ag_dump_class *c = &d->layout.classes[i];

		ag_hprof_record(&d->out, AG_HPROF_LOAD_CLASS, 4 + 8 + 4 + 8);
		ag_hprof_record_u4(&d->out, i + 1);
		ag_hprof_record_u8(&d->out, c->address);
		ag_hprof_record_u4(&d->out, AG_HPROF_NO_TRACE);
		ag_hprof_record_u8(&d->out, c->name);
	}
}

static void write_frames(struct ag_dump *d)
{
	const struct ag_dump_stacks *s = &d->stacks;

	for (uint32_t i = 0; i < s->n_frames; i++) {
		const struct ag_dump_method *m = &s->methods[s->frames[i].method];

		ag_hprof_record(&d->out, AG_HPROF_FRAME, 4 * 8 + 4 + 4);
		ag_hprof_record_u8(&d->out, i + 1);
		ag_hprof_record_u8(&d->out, m->name);
		ag_hprof_record_u8(&d->out, m->signature);
		ag_hprof_record_u8(&d->out, m->source);
		ag_hprof_record_u4(&d->out, serial_of(d, m->class));
		ag_hprof_record_u4(&d->out, (uint32_t)s->frames[i].line);
	}
}

static void write_trace(struct ag_dump *d, uint32_t serial, uint32_t thread, uint32_t first,
			uint32_t n)
{
	ag_hprof_record(&d->out, AG_HPROF_TRACE, 4 + 4 + 4 + n * 8);
	ag_hprof_record_u4(&d->out, serial);
	ag_hprof_record_u4(&d->out, thread);
	ag_hprof_record_u4(&d->out, n);
	for (uint32_t i = 0; i < n; i++)
		ag_hprof_record_u8(&d->out, first + i + 1);
}

void ag_dump_write_head(struct ag_dump *d)
{
	const uint32_t *first = d->stacks.first;

	write_classes(d);
	write_frames(d);
	write_trace(d, AG_HPROF_NO_TRACE, 0, 0, 0);
	for (uint32_t i = 0; i < d->graph.n_threads; i++)
		write_trace(d, FIRST_TRACE + i, i + 1, first[i], first[i + 1] - first[i]);
}

/*
 * Returns the depth of the stack frame to which a root belongs; or NO_FRAME if the thread's stack
 * in d->stacks has no frame at this depth, or has a frame of another method there.
 */
static uint32_t frame_of(const struct ag_dump *d, const struct ag_dump_root *root)
{
	const uint32_t *first = d->stacks.first + root->thread;

	if (!root->method || root->depth >= first[1] - first[0] ||
	    d->stacks.frames[first[0] + root->depth].id != root->method)
		return NO_FRAME;
	return root->depth;
}

/* Returns the size in bytes of a root's sub-record without the tag. */
static size_t size_of(enum ag_hprof_sub_tag tag)
{
	switch (tag) {
	case AG_HPROF_ROOT_JNI_LOCAL:
	case AG_HPROF_ROOT_JAVA_FRAME:
	case AG_HPROF_ROOT_THREAD:
		return 8 + 4 + 4;
	case AG_HPROF_ROOT_JNI_GLOBAL:
		return 8 + 8;
	default:
		return 8;
	}
}

static void write_root(struct ag_dump *d, const struct ag_dump_root *root)
{
	struct ag_hprof *out = &d->out;
	enum ag_hprof_sub_tag tag = (enum ag_hprof_sub_tag)root->tag;

	ag_hprof_sub(out, tag, 1 + size_of(tag));
	ag_hprof_u8(out, root->address);
	switch (tag) {
	case AG_HPROF_ROOT_JNI_GLOBAL:
		ag_hprof_u8(out, 0); /* the JNI reference, which HotSpot does not report */
		break;
	case AG_HPROF_ROOT_JNI_LOCAL:
	case AG_HPROF_ROOT_JAVA_FRAME:
		ag_hprof_u4(out, root->thread + 1);
		ag_hprof_u4(out, frame_of(d, root));
		break;
	case AG_HPROF_ROOT_THREAD:
		/*
		 * A thread that is not in graph.threads, because it started after the threads were
		 * listed, has the number AG_DUMP_NONE + 1 = 0 and the empty trace.
		 */
		ag_hprof_u4(out, root->thread + 1);
		ag_hprof_u4(out, root->thread == AG_DUMP_NONE ? AG_HPROF_NO_TRACE
							      : FIRST_TRACE + root->thread);
		break;
	default:
		break;
	}
}

/*
 * Returns true if this root must be written to the dump.  HotSpot reports every object to which the
 * boot loader refers as a system class.  If the object is not a java.lang.Class, but for example a
 * constant, changes the root's tag to "unknown".  If it is the java.lang.Class of a class that is
 * not in the class list, returns false, because that class is not loaded.
 */
static bool is_written(const struct ag_dump *d, struct ag_dump_root *root)
{
	if (root->tag != AG_HPROF_ROOT_STICKY_CLASS)
		return true;
	if (ag_dump_is_class(&d->heap, root->address))
		return ag_dump_mirrored(&d->heap, root->address) != AG_DUMP_NONE;
	root->tag = AG_HPROF_ROOT_UNKNOWN;
	return true;
}

void ag_dump_write_roots(struct ag_dump *d)
{
	for (uint32_t i = 0; i < d->n_roots; i++) {
		if (is_written(d, &d->roots[i]))
			write_root(d, &d->roots[i]);
	}
}
