/* Writes GC roots with their threads and methods. */
#include "jvm/graph/graph_walk.h"

static uint32_t method_number(struct ag_graph_walk *w, jmethodID id)
{
	struct ag_hash_map *methods = &w->graph->methods;
	uint64_t key = (uint64_t)(uintptr_t)id;
	const struct ag_hash_entry *slot;

	if (key == 0)
		return 0;
	slot = ag_hash_map_probe(methods, key);
	if (slot->key == 0 && w->snapshot && w->snapshot->inside) {
		w->nameless++;
		return 0;
	}
	if (slot->key == 0)
		slot = ag_hash_map_add(methods, key, methods->n + 1);
	return slot ? slot->number : 0;
}

/*
 * Returns the id of the java.lang.Thread at `address`, or 0 if the thread is not in graph->threads.
 * Needed because HotSpot does not report the id with a root of kind THREAD.
 */
static uint64_t thread_id(struct ag_graph_walk *w, uint64_t address)
{
	const struct ag_graph *g = w->graph;

	for (uint32_t i = 0; i < g->n_threads; i++) {
		uint32_t k = (w->next_thread + i) % g->n_threads;

		if (ag_graph_address(g->threads[k].thread) != address)
			continue;
		w->next_thread = k + 1;
		return g->threads[k].id;
	}
	return 0; /* the thread started after the threads were listed, or is one of the JVM's own */
}

/*
 * Stores the id of the agent thread if `root`, a JNI local, is the holder (graph.h): only the agent
 * thread has a local reference to the holder.
 */
static void find_own_thread(struct ag_graph_walk *w, const struct heap_stream_record *root)
{
	if (root->address == w->holder)
		w->graph->own_thread = root->thread;
}

void ag_graph_on_root(struct ag_graph_walk *w, jvmtiHeapReferenceKind kind,
		      const jvmtiHeapReferenceInfo *info, struct heap_stream_record root)
{
	root.kind = HEAP_STREAM_ROOT;
	switch (kind) {
	case JVMTI_HEAP_REFERENCE_JNI_LOCAL:
		root.root = HEAP_STREAM_ROOT_JNI_LOCAL;
		root.thread = (uint64_t)info->jni_local.thread_id;
		root.depth = (uint32_t)info->jni_local.depth;
		root.method = method_number(w, info->jni_local.method);
		find_own_thread(w, &root);
		break;
	case JVMTI_HEAP_REFERENCE_STACK_LOCAL:
		root.root = HEAP_STREAM_ROOT_STACK;
		root.thread = (uint64_t)info->stack_local.thread_id;
		root.depth = (uint32_t)info->stack_local.depth;
		root.method = method_number(w, info->stack_local.method);
		break;
	case JVMTI_HEAP_REFERENCE_THREAD:
		root.root = HEAP_STREAM_ROOT_THREAD;
		root.thread = thread_id(w, root.address);
		break;
	case JVMTI_HEAP_REFERENCE_JNI_GLOBAL:
		root.root = HEAP_STREAM_ROOT_JNI_GLOBAL;
		break;
	case JVMTI_HEAP_REFERENCE_SYSTEM_CLASS:
		root.root = HEAP_STREAM_ROOT_CLASS;
		break;
	case JVMTI_HEAP_REFERENCE_MONITOR:
		root.root = HEAP_STREAM_ROOT_MONITOR;
		break;
	default:
		root.root = HEAP_STREAM_ROOT_VM;
	}
	ag_graph_write(w, &root);
}
