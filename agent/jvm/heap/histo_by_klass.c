/*
 * Counts objects by the klass word in their headers.  No class is tagged, so HotSpot skips its tag
 * look-ups.  Optimised for speed, because the JVM is paused during the walk.
 */
#ifndef __clang__ /* clang does not have this pragma */
#pragma GCC optimize("O2")
#endif

#include "jvm/jni_refs.h"
#include "jvm/heap/histo_internal.h"
#include "wire/frame.h"

#define UNKNOWN_MAX 256 /* limit for unlisted classes, which were loaded after the listing */

struct klass_walk {
	const struct ag_klass_probe *probe;
	const struct ag_classes *classes;
	struct ag_self_objects *own;
	struct ag_class_map map;  /* key of a class (klass_probe.h) → index in `tallies` */
	struct ag_tally *tallies; /* one for each class of `classes`, then each unlisted class */
	/* class key of the current run, a sequence of successive objects of one class */
	uint32_t run_key;
	struct ag_tally run;      /* tally of this run; added to *into when the run ends */
	struct ag_tally *into;    /* tally of the run's class */
	struct ag_walk_limit *limit;
	struct ag_tally none; /* target of `into` before the first object */
	uint32_t unknown;     /* number of unlisted classes that the walk found */
	bool mapped;          /* map_all() was called */
	bool wrong; /* the calibration of the probe is wrong */
	bool full;  /* there are more than UNKNOWN_MAX unlisted classes */
};

/* In the first callback: maps all classes, and finds the rows of the agent's own objects. */
static void map_all(struct klass_walk *w)
{
	w->mapped = true;
	w->wrong = !ag_klass_probe_map(w->probe, w->classes, &w->map);
	for (uint32_t i = 0; i < w->own->n; i++) {
		const char *object = ag_object_of(w->own->objects[i]);
		uint32_t key = ag_class_key(&w->probe->header, object);
		const struct ag_class_slot *slot = ag_class_map_probe(&w->map, key);

		w->own->rows[i] = slot->key ? slot->index : UINT32_MAX;
	}
}

/* Adds an unlisted class.  Tags its first object, which identifies the class after the walk. */
static const struct ag_class_slot *add_unknown(struct klass_walk *w, uint32_t key, jlong *tag)
{
	/* The map may have room for more, because not every listed class has a key. */
	w->full = w->unknown == UNKNOWN_MAX ||
		  !ag_class_map_add(&w->map, key, w->classes->n + w->unknown);
	if (w->full)
		return NULL;
	*tag = ++w->unknown;
	return ag_class_map_probe(&w->map, key);
}

static __attribute__((noinline)) const struct ag_class_slot *new_slot(struct klass_walk *w,
								      uint32_t key, jlong *tag)
{
	const struct ag_class_slot *slot;

	if (!w->mapped)
		map_all(w);
	if (w->wrong)
		return NULL;
	slot = ag_class_map_probe(&w->map, key);
	return slot->key ? slot : add_unknown(w, key, tag);
}

static void end_run(struct klass_walk *w)
{
	w->into->instances += w->run.instances;
	w->into->bytes += w->run.bytes;
	w->run = (struct ag_tally){ 0 };
}

static jvmtiIterationControl JNICALL on_object(jlong class_tag, jlong size, jlong *tag, void *user)
{
	struct klass_walk *w = user;
	uint32_t key;

	(void)class_tag;
	if (!ag_wrapper_ok(tag, size)) {
		w->wrong = true;
		return JVMTI_ITERATION_ABORT;
	}
	key = ag_class_key(&w->probe->header, ag_wrapped_object(tag));
	if (key != w->run_key) {
		const struct ag_class_slot *slot = ag_class_map_probe(&w->map, key);

		if (slot->key == 0)
			slot = new_slot(w, key, tag);
		if (!slot)
			return JVMTI_ITERATION_ABORT;
		end_run(w);
		w->run_key = key;
		w->into = &w->tallies[slot->index];
		/* Load the tally's cache line while HotSpot proceeds to the next object. */
		__builtin_prefetch(w->into, 1);
	}
	ag_tally_add(&w->run, size);
	return ag_walk_continues(w->limit) ? JVMTI_ITERATION_CONTINUE : JVMTI_ITERATION_ABORT;
}

/* Gets the objects that the walk has tagged: the first object of each unlisted class. */
static int unknown_get(struct ag_jvm *jvm, uint32_t unknown, struct ag_tagged *found)
{
	jlong tags[UNKNOWN_MAX];

	for (uint32_t i = 0; i < unknown; i++)
		tags[i] = i + 1;
	return ag_tagged_get(jvm, tags, (jint)unknown, found);
}

/* Removes the tags after a failed walk, because the next walk uses the same tags. */
static void untag_unknown(struct ag_jvm *jvm, uint32_t unknown)
{
	struct ag_tagged found = { 0 };

	if (unknown > 0)
		(void)unknown_get(jvm, unknown, &found); /* does not replace a recorded error */
	ag_tagged_release(jvm, &found);
}

static enum ag_outcome name_unknown(struct ag_jvm *jvm, struct ag_census *census,
				    uint32_t unknown)
{
	enum ag_outcome outcome = AG_FAILED;
	struct ag_tagged found = { 0 };

	if (unknown_get(jvm, unknown, &found) != 0)
		goto out;
	for (jint i = 0; i < found.n; i++) {
		struct ag_row *row = &census->rows[census->n - unknown + found.tags[i] - 1];

		row->class = ag_ref_class(jvm, found.objects[i]);
		census->resolved++;
	}
	/* If a tagged object was collected after the walk, its class remains unknown. */
	outcome = (uint32_t)found.n == unknown ? AG_COUNTED : AG_INCOMPLETE;
out:
	ag_tagged_release(jvm, &found);
	return outcome;
}

static enum ag_outcome make_rows(struct ag_jvm *jvm, const struct klass_walk *w,
				 struct ag_classes *classes, struct ag_census *census)
{
	uint32_t n = classes->n;

	if (ag_rows_init(jvm, census, classes, w->tallies, w->unknown) != 0)
		return AG_FAILED;
	if (w->unknown == 0)
		return AG_COUNTED;
	for (uint32_t i = n; i < n + w->unknown; i++)
		census->rows[i].tally = w->tallies[i];
	census->n += w->unknown;
	return name_unknown(jvm, census, w->unknown);
}

static bool all_plain(const jobject *refs, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		if (!ag_is_plain(refs[i]))
			return false;
	}
	return true;
}

static int walk_init(struct ag_jvm *jvm, struct klass_walk *w)
{
	uint32_t n = w->classes->n + UNKNOWN_MAX;

	w->into = &w->none;
	w->tallies = ag_jvm_alloc(jvm, n, sizeof(*w->tallies));
	if (!w->tallies)
		return -1;
	return ag_class_map_init(&w->map, jvm->mem, n) == 0 ? 0 : ag_fail_memory(jvm);
}

enum ag_outcome ag_histo_by_klass(struct ag_jvm *jvm, const struct ag_klass_probe *probe,
				  struct ag_classes *classes, struct ag_self_objects *own,
				  struct ag_census *census)
{
	struct klass_walk w = {
		.probe = probe,
		.classes = classes,
		.own = own,
		.limit = &census->limit,
	};
	enum ag_outcome outcome = AG_FAILED;

	if (!all_plain(classes->list, classes->n) || !all_plain(own->objects, own->n))
		return AG_NOT_POSSIBLE;
	census->method = WIRE_WALK_KLASS;
	if (walk_init(jvm, &w) != 0 || ag_histo_walk(jvm, census, on_object, &w) != 0)
		goto out;
	end_run(&w);
	if (w.wrong || w.none.instances > 0)
		outcome = AG_NOT_POSSIBLE;
	else if (w.limit->over)
		outcome = AG_STOPPED;
	else if (w.full)
		outcome = AG_INCOMPLETE;
	else
		outcome = make_rows(jvm, &w, classes, census);
out:
	if (outcome != AG_COUNTED)
		untag_unknown(jvm, w.unknown);
	ag_class_map_release(&w.map, jvm->mem);
	ag_free(jvm->mem, w.tallies);
	return outcome;
}
