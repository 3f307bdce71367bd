/* What holds an object from outside: told as a root, with its thread and method. */
#include "jvm/graph_walk.h"

static uint32_t method_number(struct ag_graph_walk *w, jmethodID id)
{
	struct ag_numbers *methods = &w->graph->methods;
	uint64_t key = (uint64_t)(uintptr_t)id;
	const struct ag_number *slot;

	if (key == 0)
		return 0;
	slot = ag_numbers_probe(methods, key);
	if (slot->key == 0)
		slot = ag_numbers_add(methods, key, methods->n + 1);
	return slot ? slot->number : 0;
}

/* The JVM does not say which thread this java.lang.Thread is. */
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
	return 0; /* it was started since, or is the JVM's own */
}

/* Of one of our own references we know which object it is. */
static void find_own_thread(struct ag_graph_walk *w, const struct tape_record *root)
{
	if (root->address == w->holder)
		w->graph->own_thread = root->thread;
}

void ag_graph_on_root(struct ag_graph_walk *w, jvmtiHeapReferenceKind kind,
		      const jvmtiHeapReferenceInfo *info, struct tape_record root)
{
	root.kind = TAPE_ROOT;
	switch (kind) {
	case JVMTI_HEAP_REFERENCE_JNI_LOCAL:
		root.root = TAPE_ROOT_JNI_LOCAL;
		root.thread = (uint64_t)info->jni_local.thread_id;
		root.depth = (uint32_t)info->jni_local.depth;
		root.method = method_number(w, info->jni_local.method);
		find_own_thread(w, &root);
		break;
	case JVMTI_HEAP_REFERENCE_STACK_LOCAL:
		root.root = TAPE_ROOT_STACK;
		root.thread = (uint64_t)info->stack_local.thread_id;
		root.depth = (uint32_t)info->stack_local.depth;
		root.method = method_number(w, info->stack_local.method);
		break;
	case JVMTI_HEAP_REFERENCE_THREAD:
		root.root = TAPE_ROOT_THREAD;
		root.thread = thread_id(w, root.address);
		break;
	case JVMTI_HEAP_REFERENCE_JNI_GLOBAL:
		root.root = TAPE_ROOT_JNI_GLOBAL;
		break;
	case JVMTI_HEAP_REFERENCE_SYSTEM_CLASS:
		root.root = TAPE_ROOT_CLASS;
		break;
	case JVMTI_HEAP_REFERENCE_MONITOR:
		root.root = TAPE_ROOT_MONITOR;
		break;
	default:
		root.root = TAPE_ROOT_VM;
	}
	ag_graph_tell(w, &root);
}
