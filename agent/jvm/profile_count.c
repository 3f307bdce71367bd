/*
 * Counting the slow way: what a thread has not met yet, what has no size that is known, and all
 * where each object is marked.
 */
#ifndef __clang__ /* which has no such pragma */
#pragma GCC optimize("O2")
#endif

#include <string.h>

#include "jvm/profile_exact_state.h"

/* Objects */

static uint64_t size_of(const struct ag_profile *profile, jobject object)
{
	jlong size = 0;

	if ((*profile->ti)->GetObjectSize(profile->ti, object, &size) != JVMTI_ERROR_NONE)
		return 0;
	return (uint64_t)size;
}

static bool is_wanted(const struct ag_profile *profile, uint32_t kind)
{
	const char *signature = ag_kinds_signature(profile->kinds, kind);

	return signature && ag_exact_wants(profile, signature, strlen(signature));
}

/* The kind in a new cell: one that nobody wants is not looked at again. */
static void set_kind(const struct ag_profile *profile, struct ag_cell *cell, uint32_t kind)
{
	cell->kind = is_wanted(profile, kind) ? kind : AG_KIND_NONE;
	if (cell->kind == AG_KIND_NONE)
		cell->next = UINT64_MAX;
}

/* For one of two classes with this hash. */
static struct ag_cell *divided_cell(struct ag_profile *profile, struct ag_teller *teller,
				    uint32_t kind, jint hash)
{
	uint64_t key = (uint64_t)hash | AG_KEY_SUB(kind + 1);
	bool is_new;
	struct ag_cell *cell = ag_cell_of(profile, teller, key, &is_new);

	if (cell && is_new) {
		cell->flags = AG_CELL_VARIES;
		set_kind(profile, cell, kind);
		ag_cell_publish(teller, cell, key);
	}
	return cell;
}

/* The first object of a class in a thread. */
static void fill_class(struct ag_profile *profile, struct ag_teller *teller, struct ag_cell *cell,
		       jobject object, uint32_t kind, jint hash, bool shared)
{
	if (shared || ag_exact_is_shared(profile->exact, (uint32_t)hash)) {
		cell->flags = AG_CELL_SHARED;
		cell->kind = AG_KIND_NONE;
		cell->next = 0;
	} else {
		cell->size = (uint32_t)size_of(profile, object);
		set_kind(profile, cell, kind);
	}
	ag_cell_publish(teller, cell, (uint32_t)hash);
}

static struct ag_cell *class_cell(struct ag_profile *profile, struct ag_teller *teller,
				  jobject object, jint hash)
{
	JNIEnv *jni = teller->jni;
	bool is_new, shared = false;
	struct ag_cell *cell = ag_cell_of(profile, teller, (uint32_t)hash, &is_new);
	jclass class;
	uint32_t kind;

	if (!cell || (!is_new && !(cell->flags & AG_CELL_SHARED)))
		return cell;
	class = (*jni)->GetObjectClass(jni, object);
	kind = ag_kinds_of(profile->kinds, profile->ti, jni, class, hash, &shared);
	(*jni)->DeleteLocalRef(jni, class);
	if (kind == AG_KIND_NONE)
		return NULL; /* no room; it is looked for again each time */
	if (is_new)
		fill_class(profile, teller, cell, object, kind, hash, shared);
	return cell->flags & AG_CELL_SHARED ? divided_cell(profile, teller, kind, hash) : cell;
}

void ag_count_made(struct ag_profile *profile, struct ag_teller *teller, jobject object, jint hash)
{
	struct ag_cell *cell = hash > 0 ? class_cell(profile, teller, object, hash) : NULL;
	uint64_t bytes = 0;

	if (!cell) {
		ag_exact_drop(profile, 1);
		return;
	}
	if (cell->flags & AG_CELL_VARIES)
		bytes = size_of(profile, object);
	ag_cell_add(profile, teller, cell, 1, bytes, object, AG_MADE_BY_CONSTRUCTOR);
}

/* Arrays */

/* For arrays of this kind. */
static void fill_array(struct ag_profile *profile, struct ag_teller *teller, struct ag_cell *cell,
		       uint64_t key, uint32_t kind)
{
	const char *signature = ag_kinds_signature(profile->kinds, kind);

	if (signature)
		ag_sizes_of(&profile->exact->sizes, signature, cell);
	cell->flags |= AG_CELL_VARIES;
	set_kind(profile, cell, kind);
	ag_cell_publish(teller, cell, key);
}

void ag_count_array(struct ag_profile *profile, struct ag_teller *teller, jobject array,
		    jint length, jint number)
{
	const struct ag_place *place = ag_place_of(profile->exact, number);
	uint64_t key = ag_key_of_place(number);
	struct ag_cell *cell;
	bool is_new;

	if (!place || place->array == AG_KIND_NONE)
		return;
	cell = ag_cell_of(profile, teller, key, &is_new);
	if (!cell) {
		ag_exact_drop(profile, 1);
		return;
	}
	if (is_new)
		fill_array(profile, teller, cell, key, place->array);
	ag_cell_add(profile, teller, cell, 1,
		    ag_size_of(profile->exact->sizes.align, cell, length), array, AG_MADE_BY_CODE);
}

/* Arrays of arrays */

/* All of one level at once. */
static struct ag_cell *level_cell(struct ag_profile *profile, struct ag_teller *teller,
				  jint number, const struct ag_place *place, uint32_t level)
{
	uint64_t key = ag_key_of_place(number) | AG_KEY_SUB(level);
	const char *signature = ag_kinds_signature(profile->kinds, place->array);
	bool is_new;
	struct ag_cell *cell = ag_cell_of(profile, teller, key, &is_new);
	uint32_t kind;

	if (!cell || !is_new)
		return cell;
	if (!signature || signature[level] != '[')
		return NULL;
	kind = ag_kinds_named(profile->kinds, signature + level, strlen(signature + level));
	if (kind == AG_KIND_NONE)
		return NULL;
	fill_array(profile, teller, cell, key, kind);
	return cell;
}

/* Each one of a level, for what is live; the objects are so many levels further in. */
static void mark_level(struct ag_profile *profile, JNIEnv *jni, jobject array, uint32_t levels,
		       uint32_t site)
{
	jsize n;

	if (levels == 0) {
		ag_live_mark(profile, array, site, 0);
		return;
	}
	n = (*jni)->GetArrayLength(jni, array);
	for (jsize i = 0; i < n; i++) {
		jobject inner = (*jni)->GetObjectArrayElement(jni, array, i);

		if (!inner)
			continue; /* another thread cannot have it yet; but so it is safe */
		mark_level(profile, jni, inner, levels - 1, site);
		(*jni)->DeleteLocalRef(jni, inner);
	}
}

static void add_level(struct ag_profile *profile, struct ag_teller *teller, struct ag_cell *cell,
		      jobject outer, uint32_t level, uint64_t n, jint length)
{
	uint64_t size = ag_size_of(profile->exact->sizes.align, cell, length);

	ag_cell_add(profile, teller, cell, n, n * size, NULL, AG_MADE_BY_CODE);
	if (profile->wanted.flags & WIRE_ALLOC_LIVE && cell->kind != AG_KIND_NONE &&
	    cell->site != AG_SITE_NONE)
		mark_level(profile, teller->jni, outer, level, cell->site);
}

/*
 * All that multianewarray made: on each level as many as the lengths further out say, all of the
 * same length; the first leads further in.  Where it was told no length there is null.
 */
static void add_levels(struct ag_profile *profile, struct ag_teller *teller, jobject outer,
		       jint number, const struct ag_place *place)
{
	JNIEnv *jni = teller->jni;
	jobject array = outer;
	uint64_t n = 1;

	for (uint32_t level = 0; array && n > 0; level++) {
		struct ag_cell *cell = level_cell(profile, teller, number, place, level);
		const char *signature = ag_kinds_signature(profile->kinds, place->array);
		jsize length = (*jni)->GetArrayLength(jni, array);
		jobject inner = NULL;

		if (cell)
			add_level(profile, teller, cell, outer, level, n, length);
		else
			ag_exact_drop(profile, n);
		if (length > 0 && signature && signature[level] == '[' &&
		    signature[level + 1] == '[')
			inner = (*jni)->GetObjectArrayElement(jni, array, 0);
		if (array != outer)
			(*jni)->DeleteLocalRef(jni, array);
		array = inner;
		n *= (uint64_t)length;
	}
}

void ag_count_arrays(struct ag_profile *profile, struct ag_teller *teller, jobject array,
		     jint number)
{
	const struct ag_place *place = ag_place_of(profile->exact, number);

	if (place && place->array != AG_KIND_NONE)
		add_levels(profile, teller, array, number, place);
}

/* Results, and what the VM makes */

/*
 * The cell of an object's class below a key: of one place, or of the VM.  Its class is asked for
 * every time.
 */
static struct ag_cell *cell_below(struct ag_profile *profile, struct ag_teller *teller,
				  uint64_t key, jclass class, const struct ag_place *place)
{
	JNIEnv *jni = teller->jni;
	jint hash = 0;
	uint32_t kind;
	const char *signature;
	struct ag_cell *cell;
	bool is_new;

	if ((*profile->ti)->GetObjectHashCode(profile->ti, class, &hash) != JVMTI_ERROR_NONE)
		return NULL;
	kind = ag_kinds_of(profile->kinds, profile->ti, jni, class, hash, NULL);
	signature = ag_kinds_signature(profile->kinds, kind);
	if (!signature)
		return NULL;
	key |= AG_KEY_SUB(kind + 1);
	cell = ag_cell_of(profile, teller, key, &is_new);
	if (!cell || !is_new)
		return cell;
	cell->flags = AG_CELL_VARIES;
	set_kind(profile, cell, kind);
	if (place && !ag_place_cloned(profile, jni, place, class, signature)) {
		cell->kind = AG_KIND_NONE;
		cell->next = UINT64_MAX;
	}
	ag_cell_publish(teller, cell, key);
	return cell;
}

static void add_object(struct ag_profile *profile, struct ag_teller *teller, uint64_t key,
		       jobject object, const struct ag_place *place)
{
	JNIEnv *jni = teller->jni;
	jclass class = (*jni)->GetObjectClass(jni, object);
	struct ag_cell *cell = cell_below(profile, teller, key, class, place);

	(*jni)->DeleteLocalRef(jni, class);
	if (!cell)
		ag_exact_drop(profile, 1);
	else
		ag_cell_add(profile, teller, cell, 1, size_of(profile, object), object,
			    place ? AG_MADE_BY_CODE : AG_MADE_BY_VM);
}

void ag_count_result(struct ag_profile *profile, struct ag_teller *teller, jobject result,
		     jint number)
{
	const struct ag_place *place = ag_place_of(profile->exact, number);

	if (place)
		add_object(profile, teller, ag_key_of_place(number), result, place);
}

void ag_count_vm(struct ag_profile *profile, struct ag_teller *teller, jobject object)
{
	if (!ag_exact_is_told(profile, teller->jni))
		add_object(profile, teller, AG_KEY_VM, object, NULL);
}
