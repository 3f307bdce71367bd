#include "jvm/graph/graph.h"

#include "jvm/heap/klass_probe.h"
#include "jvm/graph/graph_walk.h"
#include "jvm/jni_refs.h"
#include "jvm/class_index.h"
#include "wire/frame.h"

/* Reads the threads' ids from the field Thread.tid, because applications can override getId(). */
static int read_ids(struct ag_jvm *jvm, struct ag_graph *g)
{
	jclass class = ag_ref_base_class(jvm, g->threads[0].thread);
	jfieldID id = ag_ref_field(jvm, class, "tid", "J");

	ag_ref_drop(jvm, class);
	for (uint32_t i = 0; i < g->n_threads && id; i++)
		g->threads[i].id = (uint64_t)(*jvm->jni)->GetLongField(
			jvm->jni, g->threads[i].thread, id);
	return jvm->err.what ? -1 : 0;
}

int ag_graph_list_threads(struct ag_jvm *jvm, struct ag_graph *g)
{
	jthread *list = NULL;
	jint n = 0;
	int rc = -1;

	if (AG_JVMTI(jvm, GetAllThreads, &n, &list) != 0)
		return -1;
	g->threads = ag_jvm_alloc(jvm, (size_t)n, sizeof(*g->threads));
	for (jint i = 0; i < n; i++) {
		if (g->threads)
			g->threads[g->n_threads++].thread = list[i];
		else
			ag_ref_drop(jvm, list[i]);
	}
	if (g->threads && ag_ref_expect(jvm, n + 64) == 0)
		rc = n > 0 ? read_ids(jvm, g) : 0;
	ag_jvmti_free(jvm, list);
	return rc;
}

static int make_arrays(struct ag_jvm *jvm, struct ag_self_objects *own, jobject holder)
{
	JNIEnv *jni = jvm->jni;

	for (jsize i = 0; i < AG_GRAPH_ARRAYS; i++) {
		jobject array = (*jni)->NewIntArray(jni, i);

		if (ag_ref_threw(jvm, "NewIntArray"))
			return -1;
		if (ag_self_objects_add(jvm, own, array) != 0) {
			ag_ref_drop(jvm, array);
			return -1;
		}
		(*jni)->SetObjectArrayElement(jni, holder, i, array);
		if (ag_ref_threw(jvm, "SetObjectArrayElement"))
			return -1;
	}
	/*
	 * The last element is the holder itself: for a reference from an object to itself,
	 * HotSpot's callback wrapper has one address instead of two, and the walk verifies this
	 * case as well.
	 */
	(*jni)->SetObjectArrayElement(jni, holder, AG_GRAPH_ARRAYS, holder);
	return ag_ref_threw(jvm, "SetObjectArrayElement") ? -1 : 0;
}

static jobject make_holder(struct ag_jvm *jvm, jobject thread)
{
	jclass thread_class = ag_ref_base_class(jvm, thread);
	jclass object_class = ag_ref_super(jvm, thread_class);
	jobject holder = (*jvm->jni)->NewObjectArray(jvm->jni, AG_GRAPH_ARRAYS + 1, object_class,
						     NULL);

	ag_ref_drop(jvm, thread_class);
	ag_ref_drop(jvm, object_class);
	return ag_ref_threw(jvm, "NewObjectArray") ? NULL : holder;
}

int ag_graph_make_own(struct ag_jvm *jvm, struct ag_self_objects *own)
{
	jobject holder;

	if (ag_self_objects_add_thread(jvm, own) != 0)
		return -1;
	holder = make_holder(jvm, own->objects[0]);
	if (!holder)
		return -1;
	if (make_arrays(jvm, own, holder) == 0 && ag_self_objects_add(jvm, own, holder) == 0)
		return 0;
	ag_ref_drop(jvm, holder);
	return -1;
}

static bool are_plain(const struct ag_graph_walk *w)
{
	for (uint32_t i = 0; i < w->loaded->n; i++) {
		if (w->loaded->list[i] && !ag_is_plain(w->loaded->list[i]))
			return false;
	}
	for (uint32_t i = 0; i < w->own->n; i++) {
		if (!ag_is_plain(w->own->objects[i]))
			return false;
	}
	for (uint32_t i = 0; i < w->mirrors->n; i++) {
		if (!ag_is_plain(w->mirrors->list[i].object))
			return false;
	}
	for (uint32_t i = 0; i < w->graph->n_threads; i++) {
		if (!ag_is_plain(w->graph->threads[i].thread))
			return false;
	}
	return true;
}

/* Gets the classes that the walk tagged, in the order of their tags, and removes the tags. */
static int take_tagged(struct ag_jvm *jvm, jclass *classes, jint n)
{
	jlong *tags = ag_jvm_alloc(jvm, (size_t)n, sizeof(*tags)), *found = NULL;
	jobject *objects = NULL;
	jint n_found = 0;
	int rc;

	if (!tags)
		return -1;
	for (jint i = 0; i < n; i++)
		tags[i] = i + 1;
	rc = AG_JVMTI(jvm, GetObjectsWithTags, n, tags, &n_found, &objects, &found);
	ag_free(jvm->mem, tags);
	if (rc != 0)
		return -1;
	for (jint i = 0; i < n_found; i++) {
		ag_ref_drop(jvm, classes[found[i] - 1]); /* NULL, unless two classes had this tag */
		classes[found[i] - 1] = objects[i];
		(void)AG_JVMTI(jvm, SetTag, objects[i], 0); /* jvm->err is checked below */
	}
	ag_jvmti_free(jvm, objects);
	ag_jvmti_free(jvm, found);
	return jvm->err.what ? -1 : ag_ref_expect(jvm, n_found + 64);
}

/*
 * Fails if one of the last n classes of the index extends java.lang.ref.Reference.  The walk did
 * not know these classes yet, so it has written their referents as strong references.
 */
static int refuse_references(struct ag_jvm *jvm, uint32_t n)
{
	const struct ag_classes *classes = &jvm->class_index->classes;
	uint32_t *referents = ag_jvm_alloc(jvm, n, sizeof(*referents));
	int rc = referents ? ag_graph_referents(jvm, classes, classes->n - n, referents) : -1;

	for (uint32_t i = 0; i < n && rc == 0; i++) {
		if (referents[i] != AG_NO_REFERENT)
			rc = ag_fail(jvm, "walk the heap",
				     "a new Reference class was loaded; try again");
	}
	ag_free(jvm->mem, referents);
	return rc;
}

/*
 * Adds to the class index the n classes that only the walk found.  Allocates the array instead of
 * using the stack, because there may be thousands of classes, and an option of the JVM can limit
 * the stack of each thread to 136 KB.
 */
static int add_new(struct ag_jvm *jvm, uint32_t n)
{
	jclass *classes = ag_jvm_alloc(jvm, n, sizeof(*classes));
	int rc = -1;

	if (!classes)
		return -1;
	if (take_tagged(jvm, classes, (jint)n) == 0 &&
	    ag_class_index_extend(jvm, classes, n) == 0) {
		rc = refuse_references(jvm, n);
	} else {
		for (uint32_t i = 0; i < n; i++)
			ag_ref_drop(jvm, classes[i]);
	}
	ag_free(jvm->mem, classes);
	return rc;
}

static int walk(struct ag_graph_walk *w, uint32_t *referents, struct ag_mirrors *mirrors)
{
	struct ag_jvm *jvm = w->jvm;
	int rc;

	if (ag_graph_referents(jvm, w->loaded, 0, referents) != 0 ||
	    ag_mirrors_read(jvm, w->loaded, mirrors) != 0)
		return -1;
	if (ag_hash_map_init(&w->classes, jvm->mem, w->loaded->n + AG_GRAPH_NEW) != 0 ||
	    ag_hash_map_init(&w->graph->methods, jvm->mem, AG_GRAPH_METHODS) != 0)
		return ag_fail_memory(jvm);
	if (!are_plain(w)) {
		w->graph->outcome = WIRE_GRAPHED_UNKNOWN;
		return 0;
	}
	rc = ag_vthreads_learn(jvm, w->loaded, w->own->objects[0], &w->vthreads);
	if (rc == 0)
		rc = w->opts->snapshot ? ag_graph_follow_snapshot(w) : ag_graph_follow(w);
	ag_vthreads_forget(jvm, &w->vthreads);
	if (w->graph->n_new > 0 && add_new(jvm, w->graph->n_new) != 0)
		rc = -1;
	return w->chan->broken ? -1 : rc;
}

int ag_graph_walk(struct ag_jvm *jvm, struct ag_chan *chan, const struct ag_graph_opts *opts,
		  struct ag_graph *graph)
{
	struct ag_self_objects own = { .n = 0 };
	struct ag_mirrors mirrors = { .n = 0 };
	struct ag_graph_walk w = {
		.jvm = jvm, .chan = chan, .opts = opts, .graph = graph, .own = &own,
		.mirrors = &mirrors,
	};
	uint32_t *referents;
	int rc = -1;

	*graph = (struct ag_graph){ 0 };
	if (!jvm->class_index)
		return ag_fail(jvm, "walk the heap", "no class list was requested");
	w.loaded = &jvm->class_index->classes;
	referents = ag_jvm_alloc(jvm, w.loaded->n, sizeof(*referents));
	w.referents = referents;
	if (referents && ag_graph_list_threads(jvm, graph) == 0 &&
	    ag_graph_make_own(jvm, &own) == 0)
		rc = walk(&w, referents, &mirrors);
	ag_mirrors_release(jvm, &mirrors);
	ag_self_objects_forget(jvm, &own, 0);
	ag_hash_map_release(&w.classes, jvm->mem);
	ag_free(jvm->mem, referents);
	return rc;
}

void ag_graph_release(struct ag_jvm *jvm, struct ag_graph *graph)
{
	for (uint32_t i = 0; i < graph->n_threads; i++)
		ag_ref_drop(jvm, graph->threads[i].thread);
	ag_free(jvm->mem, graph->threads);
	ag_hash_map_release(&graph->methods, jvm->mem);
	*graph = (struct ag_graph){ 0 };
}
