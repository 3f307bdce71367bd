/* GRAPH: sends the objects and references of the heap, then the names of classes and methods. */
#include <string.h>

#include "cmd/row_batch.h"
#include "cmd/class_rows.h"
#include "cmd/command.h"
#include "jvm/graph/graph.h"
#include "jvm/jni_refs.h"
#include "jvm/class_index.h"
#include "wire/frame.h"

#define NAME_MAX 1024 /* limit for a thread's name in bytes; a longer name is cut */

static int send_new_classes(struct ag_jvm *jvm, struct ag_chan *chan, uint32_t n)
{
	struct ag_class_index *index = jvm->class_index;
	struct ag_origins origins = {
		.jvm = jvm,
		.chan = chan,
		.loaders = &index->loaders,
		.modules = &index->modules,
	};

	return ag_class_rows(&origins, index->classes.list + index->classes.n - n, n);
}

static int send_thread(struct ag_jvm *jvm, struct ag_row_batch *batch,
		       const struct ag_graph_thread *t)
{
	jvmtiThreadInfo info = { .name = NULL };
	struct wire_writer *w;
	size_t len;

	if (AG_JVMTI(jvm, GetThreadInfo, t->thread, &info) != 0)
		return -1;
	len = info.name ? strnlen(info.name, NAME_MAX) : 0;
	w = ag_row_batch_row(batch, 12 + len);
	if (w) {
		wire_put_u64(w, t->id);
		wire_put_text(w, len ? info.name : "", len);
	}
	ag_jvmti_free(jvm, info.name);
	ag_ref_drop(jvm, info.thread_group);
	ag_ref_drop(jvm, info.context_class_loader);
	return w ? 0 : -1;
}

static int send_threads(struct ag_jvm *jvm, struct ag_chan *chan, const struct ag_graph *g)
{
	struct ag_row_batch batch = { .chan = chan, .type = WIRE_GRAPH_THREADS };

	for (uint32_t i = 0; i < g->n_threads; i++) {
		if (send_thread(jvm, &batch, &g->threads[i]) != 0)
			return -1;
	}
	return ag_row_batch_end(&batch);
}

struct method {
	char *class, *name; /* allocated by JVMTI; NULL if the class is unloaded */
};

static int name_method(struct ag_jvm *jvm, jmethodID id, struct method *m)
{
	jvmtiError code = (*jvm->ti)->GetMethodName(jvm->ti, id, &m->name, NULL, NULL);
	jclass class;

	if (code == JVMTI_ERROR_INVALID_METHODID)
		return 0;
	if (ag_jvmti_check(jvm, "GetMethodName", code) != 0)
		return -1;
	code = (*jvm->ti)->GetMethodDeclaringClass(jvm->ti, id, &class);
	if (code == JVMTI_ERROR_INVALID_METHODID)
		return 0;
	if (ag_jvmti_check(jvm, "GetMethodDeclaringClass", code) != 0)
		return -1;
	m->class = ag_class_signature(jvm, class);
	ag_ref_drop(jvm, class);
	return m->class ? 0 : -1;
}

static int put_method(struct ag_row_batch *batch, const struct method *m)
{
	const char *class = m->class ? m->class : "", *name = m->name ? m->name : "";
	struct wire_writer *w = ag_row_batch_row(batch, 8 + strlen(class) + strlen(name));

	if (!w)
		return -1;
	wire_put_text(w, class, strlen(class));
	wire_put_text(w, name, strlen(name));
	return 0;
}

static int send_method(struct ag_jvm *jvm, struct ag_row_batch *batch, jmethodID id)
{
	struct method m = { NULL, NULL };
	int rc = name_method(jvm, id, &m);

	if (rc == 0)
		rc = put_method(batch, &m);
	ag_jvmti_free(jvm, m.class);
	ag_jvmti_free(jvm, m.name);
	return rc;
}

static int send_methods(struct ag_jvm *jvm, struct ag_chan *chan, const struct ag_graph *g)
{
	struct ag_row_batch batch = { .chan = chan, .type = WIRE_GRAPH_METHODS };
	jmethodID *ids;
	int rc = 0;

	if (g->methods.n == 0)
		return 0;
	ids = ag_jvm_alloc(jvm, g->methods.n, sizeof(*ids));
	if (!ids)
		return -1;
	for (size_t i = 0; i < ag_hash_map_slots(&g->methods); i++) {
		const struct ag_hash_entry *slot = &g->methods.slots[i];

		if (slot->key)
			ids[slot->number - 1] = (jmethodID)(uintptr_t)slot->key;
	}
	for (uint32_t i = 0; i < g->methods.n && rc == 0; i++)
		rc = send_method(jvm, &batch, ids[i]);
	ag_free(jvm->mem, ids);
	return rc == 0 ? ag_row_batch_end(&batch) : -1;
}

static int send_end(struct ag_jvm *jvm, struct ag_chan *chan, const struct ag_graph *g)
{
	struct wire_writer *w = ag_chan_begin(chan);

	wire_put_u32(w, g->outcome);
	wire_put_u64(w, g->paused_ns);
	wire_put_u64(w, g->waited_ns);
	wire_put_u64(w, g->own_thread);
	wire_put_u64(w, jvm->mem->peak);
	wire_put_u32(w, g->why);
	wire_put_i32(w, g->code);
	wire_put_u64(w, g->child_ns);
	return ag_chan_end(chan, WIRE_GRAPH_END);
}

static int send_graph(struct ag_jvm *jvm, struct ag_chan *chan, const struct ag_graph *g)
{
	if (g->n_new > 0 && send_new_classes(jvm, chan, g->n_new) != 0)
		return -1;
	if (send_threads(jvm, chan, g) != 0 || send_methods(jvm, chan, g) != 0)
		return -1;
	return send_end(jvm, chan, g);
}

/*
 * Handles GRAPH.  Opens no JNI local frame, because the end of the frame would delete the
 * references that the walk stores in the class index, and the index outlives the command.
 */
int ag_cmd_graph(struct ag_jvm *jvm, struct ag_chan *chan, struct wire_reader *request)
{
	const jvmtiCapabilities tagging = { .can_tag_objects = 1 };
	uint32_t flags = wire_get_u32(request);
	struct ag_graph_opts opts = {
		.pause_ms = wire_get_u32(request),
		.heap_stream_max = wire_get_u64(request),
		.texts_from = wire_get_u32(request),
		.snapshot = (flags & WIRE_GRAPH_SNAPSHOT) != 0,
		.life_ms = wire_get_u32(request),
		.tries = wire_get_u32(request),
	};
	struct ag_graph graph;
	int rc;

	if (!wire_reader_ok(request))
		return ag_fail(jvm, "read the request", "it is incomplete");
	if (!(flags & WIRE_GRAPH_TEXTS))
		opts.texts_from = 0;
	else if (opts.texts_from == 0)
		opts.texts_from = 1;
	if (AG_JVMTI(jvm, AddCapabilities, &tagging) != 0)
		return -1;
	rc = ag_graph_walk(jvm, chan, &opts, &graph);
	(void)AG_JVMTI(jvm, RelinquishCapabilities, &tagging); /* AG_JVMTI records an error */
	if (rc == 0)
		rc = send_graph(jvm, chan, &graph);
	ag_graph_release(jvm, &graph);
	return rc;
}
