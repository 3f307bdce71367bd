#include "jvm/heap/histo_internal.h"

#include "jvm/jni_refs.h"

/*
 * Calls IterateOverHeap.  JVMTI has deprecated this function, but it takes less time per object
 * than IterateThroughHeap.
 */
int ag_histo_walk(struct ag_jvm *jvm, struct ag_census *census, jvmtiHeapObjectCallback callback,
		  const void *user)
{
	int64_t start = ag_now_ns();
	int rc;

	ag_walk_limit_begin(&census->limit);
	rc = AG_JVMTI(jvm, IterateOverHeap, JVMTI_HEAP_OBJECT_EITHER, callback, user);
	census->walk_ns += (uint64_t)(ag_now_ns() - start);
	return rc;
}

int ag_tagged_get(struct ag_jvm *jvm, const jlong *tags, jint n, struct ag_tagged *found)
{
	if (AG_JVMTI(jvm, GetObjectsWithTags, n, tags, &found->n, &found->objects, &found->tags) !=
	    0)
		return -1;
	return ag_ref_expect(jvm, found->n + 64);
}

void ag_tagged_release(struct ag_jvm *jvm, struct ag_tagged *found)
{
	for (jint i = 0; i < found->n; i++) {
		(void)AG_JVMTI(jvm, SetTag, found->objects[i], 0); /* the first error is recorded */
		ag_ref_drop(jvm, found->objects[i]);
	}
	ag_jvmti_free(jvm, found->objects);
	ag_jvmti_free(jvm, found->tags);
	*found = (struct ag_tagged){ 0 };
}

int ag_rows_init(struct ag_jvm *jvm, struct ag_census *census, struct ag_classes *classes,
		 const struct ag_tally *tallies, uint32_t more)
{
	census->rows = ag_jvm_alloc(jvm, (size_t)classes->n + more, sizeof(*census->rows));
	if (!census->rows)
		return -1;
	for (uint32_t i = 0; i < classes->n; i++) {
		census->rows[i].class = classes->list[i];
		if (tallies)
			census->rows[i].tally = tallies[i];
	}
	census->n = classes->n;
	ag_jvmti_free(jvm, classes->list);
	*classes = (struct ag_classes){ 0 };
	return 0;
}
