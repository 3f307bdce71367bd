/*
 * The slow paths of the hooks.  A hook takes a slow path for
 * - the first object of each class, and of each array site, in each thread;
 * - an object at which the thread walks its stack;
 * - an object of unknown size;
 * - every object if the profile tracks live objects.
 */
#ifndef __clang__ /* clang does not have this pragma */
#pragma GCC optimize("O2")
#endif

#include <string.h>

#include "jvm/alloc/alloc_exact_state.h"

static uint64_t size_of(const struct ag_alloc_profile *profile, jobject object)
{
	jlong size = 0;

	if ((*profile->ti)->GetObjectSize(profile->ti, object, &size) != JVMTI_ERROR_NONE)
		return 0;
	return (uint64_t)size;
}

static bool is_wanted(const struct ag_alloc_profile *profile, uint32_t kind)
{
	const char *signature = ag_alloc_classes_signature(profile->kinds, kind);

	return signature && ag_exact_wants(profile, signature, strlen(signature));
}

/*
 * Sets the kind of a new cell.  If the globs exclude the kind, also sets cell->next, so that no
 * later allocation that belongs to this cell takes the slow path.
 */
static void set_kind(const struct ag_alloc_profile *profile, struct ag_count_cell *cell,
		     uint32_t kind)
{
	cell->kind = is_wanted(profile, kind) ? kind : AG_ALLOC_CLASS_NONE;
	if (cell->kind == AG_ALLOC_CLASS_NONE)
		cell->next = UINT64_MAX;
}

/*
 * For an identity hash that classes of different names (kinds) share: returns the cell of the kind
 * `kind`, or NULL if there is no room.
 */
static struct ag_count_cell *divided_cell(struct ag_alloc_profile *profile,
					  struct ag_thread_slot *slot, uint32_t kind, jint hash)
{
	uint64_t key = (uint64_t)hash | AG_KEY_SUB(kind + 1);
	bool is_new;
	struct ag_count_cell *cell = ag_count_cell_of(profile, slot, key, &is_new);

	if (cell && is_new) {
		cell->flags = AG_CELL_VARIES;
		set_kind(profile, cell, kind);
		ag_count_cell_publish(slot, cell, key);
	}
	return cell;
}

/*
 * Fills in and publishes the cell for an identity hash, when the thread counts its first object
 * with this hash.  If classes of different names share the hash, this cell counts nothing;
 * divided_cell() returns the cells that count.
 */
static void fill_class(struct ag_alloc_profile *profile, struct ag_thread_slot *slot,
		       struct ag_count_cell *cell, jobject object, uint32_t kind, jint hash,
		       bool shared)
{
	if (shared || ag_exact_is_shared(profile->exact, (uint32_t)hash)) {
		cell->flags = AG_CELL_SHARED;
		cell->kind = AG_ALLOC_CLASS_NONE;
		cell->next = 0;
	} else {
		cell->size = (uint32_t)size_of(profile, object);
		set_kind(profile, cell, kind);
	}
	ag_count_cell_publish(slot, cell, (uint32_t)hash);
}

static struct ag_count_cell *class_cell(struct ag_alloc_profile *profile,
					struct ag_thread_slot *slot, jobject object, jint hash)
{
	JNIEnv *jni = slot->jni;
	bool is_new, shared = false;
	struct ag_count_cell *cell = ag_count_cell_of(profile, slot, (uint32_t)hash, &is_new);
	jclass class;
	uint32_t kind;

	if (!cell || (!is_new && !(cell->flags & AG_CELL_SHARED)))
		return cell;
	class = (*jni)->GetObjectClass(jni, object);
	kind = ag_alloc_classes_of(profile->kinds, profile->ti, jni, class, hash, &shared);
	(*jni)->DeleteLocalRef(jni, class);
	if (kind == AG_ALLOC_CLASS_NONE)
		return NULL; /* no room for the class; the class's next object tries again */
	if (is_new)
		fill_class(profile, slot, cell, object, kind, hash, shared);
	return cell->flags & AG_CELL_SHARED ? divided_cell(profile, slot, kind, hash) : cell;
}

void ag_count_object(struct ag_alloc_profile *profile, struct ag_thread_slot *slot, jobject object,
		     jint hash)
{
	struct ag_count_cell *cell = hash > 0 ? class_cell(profile, slot, object, hash) : NULL;
	uint64_t bytes = 0;

	if (!cell) {
		ag_exact_drop(profile, 1);
		return;
	}
	if (cell->flags & AG_CELL_VARIES)
		bytes = size_of(profile, object);
	ag_count_cell_add(profile, slot, cell, 1, bytes, object, AG_ORIGIN_CONSTRUCTOR);
}

/* Fills in and publishes the new cell `cell`, which is for arrays of this kind. */
static void fill_array(struct ag_alloc_profile *profile, struct ag_thread_slot *slot,
		       struct ag_count_cell *cell, uint64_t key, uint32_t kind)
{
	const char *signature = ag_alloc_classes_signature(profile->kinds, kind);

	if (signature)
		ag_sizes_of(&profile->exact->sizes, signature, cell);
	cell->flags |= AG_CELL_VARIES;
	set_kind(profile, cell, kind);
	ag_count_cell_publish(slot, cell, key);
}

void ag_count_array(struct ag_alloc_profile *profile, struct ag_thread_slot *slot, jobject array,
		    jint length, jint number)
{
	const struct ag_array_site *array_site = ag_array_site_of(profile->exact, number);
	uint64_t key = ag_key_of_array_site(number);
	struct ag_count_cell *cell;
	bool is_new;

	if (!array_site || array_site->array == AG_ALLOC_CLASS_NONE)
		return;
	cell = ag_count_cell_of(profile, slot, key, &is_new);
	if (!cell) {
		ag_exact_drop(profile, 1);
		return;
	}
	if (is_new)
		fill_array(profile, slot, cell, key, array_site->array);
	ag_count_cell_add(profile, slot, cell, 1,
			  ag_size_of(profile->exact->sizes.align, cell, length), array,
			  AG_ORIGIN_CODE);
}

/* Returns the cell for the arrays that a multianewarray site allocates in one nesting level. */
static struct ag_count_cell *level_cell(struct ag_alloc_profile *profile,
					struct ag_thread_slot *slot, jint number,
					const struct ag_array_site *array_site, uint32_t level)
{
	uint64_t key = ag_key_of_array_site(number) | AG_KEY_SUB(level);
	const char *signature = ag_alloc_classes_signature(profile->kinds, array_site->array);
	bool is_new;
	struct ag_count_cell *cell = ag_count_cell_of(profile, slot, key, &is_new);
	uint32_t kind;

	if (!cell || !is_new)
		return cell;
	if (!signature || signature[level] != '[')
		return NULL;
	kind = ag_alloc_classes_named(profile->kinds, signature + level, strlen(signature + level));
	if (kind == AG_ALLOC_CLASS_NONE)
		return NULL;
	fill_array(profile, slot, cell, key, kind);
	return cell;
}

/* Tags the arrays that are nested `levels` deep in `array`, or `array` itself if levels is 0. */
static void mark_level(struct ag_alloc_profile *profile, JNIEnv *jni, jobject array,
		       uint32_t levels, uint32_t site)
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
			continue; /* not expected, because no other thread has the array yet */
		mark_level(profile, jni, inner, levels - 1, site);
		(*jni)->DeleteLocalRef(jni, inner);
	}
}

static void add_level(struct ag_alloc_profile *profile, struct ag_thread_slot *slot,
		      struct ag_count_cell *cell, jobject outer, uint32_t level, uint64_t n,
		      jint length)
{
	uint64_t size = ag_size_of(profile->exact->sizes.align, cell, length);

	ag_count_cell_add(profile, slot, cell, n, n * size, NULL, AG_ORIGIN_CODE);
	if (profile->wanted.flags & WIRE_ALLOC_LIVE && cell->kind != AG_ALLOC_CLASS_NONE &&
	    cell->site != AG_SITE_NONE)
		mark_level(profile, slot->jni, outer, level, cell->site);
}

/*
 * Counts all arrays that one execution of a multianewarray allocated.  All arrays of one nesting
 * level have the same length, so only the first array of each level is examined.  The number of
 * arrays in a level is the product of the lengths of the arrays in all outer levels.  Levels for
 * which the instruction has no length were not allocated.
 */
static void add_levels(struct ag_alloc_profile *profile, struct ag_thread_slot *slot,
		       jobject outer, jint number, const struct ag_array_site *array_site)
{
	JNIEnv *jni = slot->jni;
	jobject array = outer;
	uint64_t n = 1;

	for (uint32_t level = 0; array && n > 0; level++) {
		struct ag_count_cell *cell = level_cell(profile, slot, number, array_site, level);
		const char *signature =
			ag_alloc_classes_signature(profile->kinds, array_site->array);
		jsize length = (*jni)->GetArrayLength(jni, array);
		jobject inner = NULL;

		if (cell)
			add_level(profile, slot, cell, outer, level, n, length);
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

void ag_count_arrays(struct ag_alloc_profile *profile, struct ag_thread_slot *slot, jobject array,
		     jint number)
{
	const struct ag_array_site *array_site = ag_array_site_of(profile->exact, number);

	if (array_site && array_site->array != AG_ALLOC_CLASS_NONE)
		add_levels(profile, slot, array, number, array_site);
}

/*
 * Returns the cell for objects of this class that are allocated at `array_site`; or, if
 * `array_site` is NULL, by the VM.  Returns NULL if there is no room.
 */
static struct ag_count_cell *cell_below(struct ag_alloc_profile *profile,
					struct ag_thread_slot *slot, uint64_t key, jclass class,
					const struct ag_array_site *array_site)
{
	JNIEnv *jni = slot->jni;
	jint hash = 0;
	uint32_t kind;
	const char *signature;
	struct ag_count_cell *cell;
	bool is_new;

	if ((*profile->ti)->GetObjectHashCode(profile->ti, class, &hash) != JVMTI_ERROR_NONE)
		return NULL;
	kind = ag_alloc_classes_of(profile->kinds, profile->ti, jni, class, hash, NULL);
	signature = ag_alloc_classes_signature(profile->kinds, kind);
	if (!signature)
		return NULL;
	key |= AG_KEY_SUB(kind + 1);
	cell = ag_count_cell_of(profile, slot, key, &is_new);
	if (!cell || !is_new)
		return cell;
	cell->flags = AG_CELL_VARIES;
	set_kind(profile, cell, kind);
	if (array_site && !ag_array_site_cloned(profile, jni, array_site, class, signature)) {
		cell->kind = AG_ALLOC_CLASS_NONE;
		cell->next = UINT64_MAX;
	}
	ag_count_cell_publish(slot, cell, key);
	return cell;
}

static void add_object(struct ag_alloc_profile *profile, struct ag_thread_slot *slot,
		       uint64_t key, jobject object, const struct ag_array_site *array_site)
{
	JNIEnv *jni = slot->jni;
	jclass class = (*jni)->GetObjectClass(jni, object);
	struct ag_count_cell *cell = cell_below(profile, slot, key, class, array_site);

	(*jni)->DeleteLocalRef(jni, class);
	if (!cell)
		ag_exact_drop(profile, 1);
	else
		ag_count_cell_add(profile, slot, cell, 1, size_of(profile, object), object,
				  array_site ? AG_ORIGIN_CODE : AG_ORIGIN_VM);
}

void ag_count_result(struct ag_alloc_profile *profile, struct ag_thread_slot *slot,
		     jobject result, jint number)
{
	const struct ag_array_site *array_site = ag_array_site_of(profile->exact, number);

	if (array_site)
		add_object(profile, slot, ag_key_of_array_site(number), result, array_site);
}

void ag_count_vm(struct ag_alloc_profile *profile, struct ag_thread_slot *slot, jobject object)
{
	if (!ag_exact_is_counted_elsewhere(profile, slot->jni))
		add_object(profile, slot, AG_KEY_VM, object, NULL);
}
