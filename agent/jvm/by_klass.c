/* Counting by calibrated klass word: nothing is tagged, so HotSpot has nothing to look up. */
#include "jvm/ref.h"
#include "jvm/walk.h"
#include "wire/frame.h"

#define UNKNOWN_MAX 256 /* classes that may turn up without being on the list */

struct klass_walk {
	const struct ag_calib *calib;
	const struct ag_classes *classes;
	struct ag_slot *last; /* of the object before: objects of a class like company */
	struct ag_slot none;  /* before the first */
	struct ag_map map;
	uint32_t unknown; /* slots added for classes that the list does not have */
	bool mapped;
	bool wrong; /* the calibration was a mistake */
	bool full;  /* too many classes were unknown */
};

/*
 * No slot has this klass word.  With the first object all classes get theirs.  Later it is a
 * class that was loaded after the list was made: its first object is tagged and will tell.
 */
static __attribute__((noinline)) struct ag_slot *new_slot(struct klass_walk *w, uint64_t klass,
							  jlong *tag)
{
	struct ag_slot *slot;

	if (!w->mapped) {
		w->mapped = true;
		w->wrong = !ag_calib_map(w->calib, w->classes, &w->map);
		if (w->wrong)
			return NULL;
		slot = ag_map_probe(&w->map, klass);
		if (slot->key)
			return slot;
	}
	slot = ag_map_add(&w->map, klass, w->classes->n + w->unknown);
	if (slot)
		*tag = ++w->unknown;
	else
		w->full = true;
	return slot;
}

static jvmtiIterationControl JNICALL on_object(jlong class_tag, jlong size, jlong *tag, void *user)
{
	struct klass_walk *w = user;
	struct ag_slot *slot = w->last;
	uint64_t klass;

	(void)class_tag;
	if (!ag_wrapper_ok(tag, size)) {
		w->wrong = true;
		return JVMTI_ITERATION_ABORT;
	}
	klass = ag_klass_word(&w->calib->header, ag_wrapped_object(tag));
	if (slot->key != klass) {
		slot = ag_map_probe(&w->map, klass);
		if (slot->key == 0)
			slot = new_slot(w, klass, tag);
		if (!slot)
			return JVMTI_ITERATION_ABORT;
		w->last = slot;
	}
	ag_tally_add(&slot->tally, size);
	return JVMTI_ITERATION_CONTINUE;
}

static enum ag_outcome name_unknown(struct ag_jvm *jvm, struct ag_census *census,
				    uint32_t unknown)
{
	enum ag_outcome outcome = AG_FAILED;
	struct ag_tagged found = { 0 };
	jlong tags[UNKNOWN_MAX];

	for (uint32_t i = 0; i < unknown; i++)
		tags[i] = i + 1;
	if (ag_tagged_get(jvm, tags, (jint)unknown, &found) != 0)
		goto out;
	for (jint i = 0; i < found.n; i++) {
		struct ag_row *row = &census->rows[census->n - unknown + found.tags[i] - 1];

		row->class = ag_ref_class(jvm, found.objects[i]);
		census->resolved++;
	}
	/* An object that was collected meanwhile leaves its class without a name. */
	outcome = (uint32_t)found.n == unknown ? AG_COUNTED : AG_NOT_WHOLE;
out:
	ag_tagged_release(jvm, &found);
	return outcome;
}

static enum ag_outcome make_rows(struct ag_jvm *jvm, const struct klass_walk *w,
				 struct ag_classes *classes, struct ag_census *census)
{
	if (ag_rows_init(jvm, census, classes, w->unknown) != 0)
		return AG_FAILED;
	for (size_t i = 0; i < ag_map_slots(&w->map); i++) {
		const struct ag_slot *slot = &w->map.slots[i];

		if (slot->key)
			census->rows[slot->index].tally = slot->tally;
	}
	census->n += w->unknown;
	return w->unknown == 0 ? AG_COUNTED : name_unknown(jvm, census, w->unknown);
}

enum ag_outcome ag_count_by_klass(struct ag_jvm *jvm, const struct ag_calib *calib,
				  struct ag_classes *classes, struct ag_census *census)
{
	struct klass_walk w = { .calib = calib, .classes = classes, .none.key = UINT64_MAX };
	enum ag_outcome outcome = AG_FAILED;

	for (uint32_t i = 0; i < classes->n; i++) {
		if (!ag_is_plain(classes->list[i]))
			return AG_NOT_POSSIBLE;
	}
	if (ag_map_init(&w.map, jvm->mem, classes->n + UNKNOWN_MAX) != 0)
		return AG_NOT_POSSIBLE;
	w.last = &w.none;
	census->method = WIRE_WALK_KLASS;
	if (ag_walk(jvm, census, on_object, &w) != 0)
		goto out;
	if (w.wrong)
		outcome = AG_NOT_POSSIBLE;
	else if (w.full)
		outcome = AG_NOT_WHOLE;
	else
		outcome = make_rows(jvm, &w, classes, census);
out:
	ag_map_release(&w.map, jvm->mem);
	return outcome;
}
