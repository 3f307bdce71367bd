/*
 * The natives, and threads' tables.  The common way, of a class or a place that the thread knows,
 * asks the JVM for nothing: it is built for speed.
 */
#ifndef __clang__ /* which has no such pragma */
#pragma GCC optimize("O2")
#endif

#include <poll.h>
#include <string.h>

#include "jvm/profile_exact_state.h"

#define CELLS_FIRST 32u
#define PROBES 64u   /* of threads */
#define OFF_MS 10000 /* until a hook that is at work is given up, with the profile's memory */

#define LIKELY(x) __builtin_expect(!!(x), 1)
#define RELAXED_SET(to, value) __atomic_store_n(&(to), (value), __ATOMIC_RELAXED)

struct ag_teller ag_tellers[AG_TELLERS];

/*
 * A serial in the upper half, so that no two profiles' are the same, and in the lower half how
 * often a hash has become one of two classes.  0: hooks do nothing.
 */
static uint64_t counting;
static uint32_t serial;
/* The profile whose hooks and callbacks may be at work. */
static struct ag_profile *present;
static uint64_t crowd; /* objects of threads that were too many to be told apart */

/* Threads */

static inline struct ag_teller *teller_at(uint32_t i)
{
	return &ag_tellers[i & (AG_TELLERS - 1)];
}

static inline uint32_t first_of(const JNIEnv *jni)
{
	/* 2^64 / golden ratio, as in ag_map */
	return (uint32_t)((uintptr_t)jni * UINT64_C(0x9e3779b97f4a7c15) >>
			  (64 - AG_TELLERS_BITS));
}

static __attribute__((noinline)) struct ag_teller *find_teller(JNIEnv *jni)
{
	uint32_t first = first_of(jni);

	for (uint32_t i = 0; i < PROBES; i++) {
		struct ag_teller *t = teller_at(first + i);
		JNIEnv *whose = NULL;

		if (__atomic_compare_exchange_n(&t->jni, &whose, jni, false, __ATOMIC_RELAXED,
						__ATOMIC_RELAXED) || whose == jni)
			return t;
	}
	return NULL;
}

static inline struct ag_teller *teller_of(JNIEnv *jni)
{
	struct ag_teller *t = teller_at(first_of(jni));

	return LIKELY(__atomic_load_n(&t->jni, __ATOMIC_RELAXED) == jni) ? t : find_teller(jni);
}

/*
 * What is set here and what is set in ag_hooks_off() are ordered with what either then looks at,
 * so that one of the two sees the other.  False: the thread is in a hook already.
 */
static inline bool come(struct ag_teller *teller)
{
	return __atomic_exchange_n(&teller->busy, 1, __ATOMIC_SEQ_CST) == 0;
}

void ag_teller_go(struct ag_teller *teller)
{
	__atomic_store_n(&teller->busy, 0, __ATOMIC_RELEASE);
}

struct ag_profile *ag_teller_come(JNIEnv *jni, struct ag_teller **teller)
{
	struct ag_profile *profile;

	if (!__atomic_load_n(&present, __ATOMIC_RELAXED))
		return NULL;
	*teller = teller_of(jni);
	if (!*teller || !come(*teller))
		return NULL;
	profile = __atomic_load_n(&present, __ATOMIC_SEQ_CST);
	if (!profile)
		ag_teller_go(*teller);
	return profile;
}

void ag_exact_drop(struct ag_profile *profile, uint64_t n)
{
	(void)__atomic_fetch_add(&profile->dropped, n, __ATOMIC_RELAXED);
}

/* Cells */

static inline uint32_t cell_hash(uint64_t key)
{
	/* hashes and places are spread already */
	return (uint32_t)key ^ (uint32_t)(key >> 32) * 0x9e3779b1u;
}

/* The cell of a key, or the unused one where it would go. */
static inline struct ag_cell *probe(struct ag_cells *cells, uint64_t key)
{
	uint32_t i = cell_hash(key) & cells->mask;

	while (cells->at[i].key != key && cells->at[i].key != 0)
		i = (i + 1) & cells->mask;
	return &cells->at[i];
}

static struct ag_cells *new_cells(struct ag_profile *profile, uint32_t n)
{
	/* the arena aligns what is as large to a cache line */
	struct ag_cells *cells = ag_arena_take(&profile->arena, sizeof(*cells) +
					       n * sizeof(cells->at[0]));

	if (!cells)
		return NULL;
	cells->mask = n - 1;
	cells->align = profile->exact->sizes.align;
	return cells;
}

static void set_cells(struct ag_profile *profile, struct ag_teller *teller, struct ag_cells *cells)
{
	__atomic_store_n(&teller->cells, cells, __ATOMIC_RELEASE);
	teller->fast = profile->wanted.flags & WIRE_ALLOC_LIVE ? NULL : cells;
}

/* Twice as many; one who reads the former ones finds them as they were. */
static bool grow(struct ag_profile *profile, struct ag_teller *teller)
{
	struct ag_cells *old = teller->cells;
	struct ag_cells *cells = new_cells(profile, 2 * (old->mask + 1));

	if (!cells)
		return false;
	for (uint32_t i = 0; i <= old->mask; i++) {
		if (old->at[i].key != 0)
			*probe(cells, old->at[i].key) = old->at[i];
	}
	cells->n = old->n;
	set_cells(profile, teller, cells);
	return true;
}

/* Room for one more; where there is no memory, as long as one in eight is left. */
static bool has_room(struct ag_profile *profile, struct ag_teller *teller)
{
	uint32_t size = teller->cells->mask + 1;

	if (teller->cells->n < size / 2)
		return true;
	return grow(profile, teller) || teller->cells->n < size - size / 8;
}

struct ag_cell *ag_cell_of(struct ag_profile *profile, struct ag_teller *teller, uint64_t key,
			   bool *is_new)
{
	struct ag_cell *cell = probe(teller->cells, key);

	*is_new = cell->key == 0;
	if (!*is_new)
		return cell;
	if (!has_room(profile, teller))
		return NULL;
	cell = probe(teller->cells, key);
	cell->next = 1;
	cell->site = AG_SITE_NONE;
	return cell;
}

void ag_cell_publish(struct ag_teller *teller, struct ag_cell *cell, uint64_t key)
{
	teller->cells->n++;
	__atomic_store_n(&cell->key, key, __ATOMIC_RELEASE);
}

/* Walks */

static uint64_t next_random(struct ag_teller *teller)
{
	teller->random ^= teller->random << 13; /* Marsaglia's xorshift */
	teller->random ^= teller->random >> 7;
	teller->random ^= teller->random << 17;
	return teller->random;
}

/* Have walks taken more than they may, of one processor's time? */
static bool is_dear(const struct ag_exact *exact, int64_t now_ns)
{
	return __atomic_load_n(&exact->walks_ns, __ATOMIC_RELAXED) >
		AG_WALKS_NS + (uint64_t)(now_ns - exact->began_ns) / AG_WALKS_PART;
}

static uint64_t gap(struct ag_teller *teller, uint64_t count, uint64_t walks)
{
	uint64_t mean = count / walks;

	return mean == 0 ? 1 : 1 + next_random(teller) % (2 * mean);
}

/* The object stands for all since the last walk; without room for its site, that one does. */
static __attribute__((noinline)) void walk(struct ag_profile *profile, struct ag_teller *teller,
					   struct ag_cell *cell, enum ag_made_by by)
{
	jvmtiFrameInfo frames[WIRE_ALLOC_DEPTH + AG_CONSTRUCTORS];
	struct ag_exact *exact = profile->exact;
	int64_t from_ns = ag_now_ns(), to_ns;
	uint64_t bytes = ag_cell_bytes(cell, cell->count);
	uint32_t n = ag_exact_stack(profile, teller->jni, by, frames);
	uint32_t site = ag_sites_find(&profile->sites, cell->kind, frames, n);

	if (site != AG_SITE_NONE)
		RELAXED_SET(cell->site, site);
	if (cell->site != AG_SITE_NONE) {
		ag_sites_add(&profile->sites, cell->site, (cell->count - cell->told) << 8,
			     bytes - cell->told_bytes, 1);
		RELAXED_SET(cell->told, cell->count);
		RELAXED_SET(cell->told_bytes, bytes);
	}
	to_ns = ag_now_ns();
	(void)__atomic_fetch_add(&exact->walks_ns, (uint64_t)(to_ns - from_ns), __ATOMIC_RELAXED);
	cell->next = cell->count + gap(teller, cell->count,
				       is_dear(exact, to_ns) ? AG_WALK_FEW : AG_WALK_ALL);
}

void ag_cell_add(struct ag_profile *profile, struct ag_teller *teller, struct ag_cell *cell,
		 uint64_t n, uint64_t bytes, jobject object, enum ag_made_by by)
{
	RELAXED_SET(cell->count, cell->count + n);
	if (cell->flags & AG_CELL_VARIES)
		RELAXED_SET(cell->bytes, cell->bytes + bytes);
	if (cell->kind == AG_KIND_NONE)
		return;
	if (cell->count >= cell->next)
		walk(profile, teller, cell, by);
	if (object && profile->wanted.flags & WIRE_ALLOC_LIVE && cell->site != AG_SITE_NONE)
		ag_live_mark(profile, object, cell->site, 0);
}

/* Beginning a hook */

bool ag_exact_is_shared(const struct ag_exact *exact, uint64_t hash)
{
	uint32_t n = __atomic_load_n(&exact->n_shared, __ATOMIC_ACQUIRE);

	if (n > AG_SHARED_MAX)
		return true;
	for (uint32_t i = 0; i < n; i++) {
		if (__atomic_load_n(&exact->shared[i], __ATOMIC_ACQUIRE) == hash)
			return true;
	}
	return false;
}

/* A hash of a class that was counted by it may now be another's, too. */
static void divide(const struct ag_exact *exact, struct ag_cells *cells)
{
	for (uint32_t i = 0; i <= cells->mask; i++) {
		struct ag_cell *cell = &cells->at[i];

		if (cell->key == 0 || cell->key >= AG_KEY_PLACE ||
		    !ag_exact_is_shared(exact, cell->key))
			continue;
		cell->flags |= AG_CELL_SHARED;
		cell->next = 0;
	}
}

/* The table is of an earlier profile, or was made before hashes came to be shared. */
static bool settle(struct ag_profile *profile, struct ag_teller *teller, uint64_t on)
{
	if (teller->on >> 32 != on >> 32) {
		struct ag_cells *cells = new_cells(profile, CELLS_FIRST);

		if (!cells)
			return false;
		teller->random = ((uint64_t)(uintptr_t)teller->jni ^ on) | 1;
		set_cells(profile, teller, cells);
	} else {
		divide(profile->exact, teller->cells);
	}
	__atomic_store_n(&teller->on, on, __ATOMIC_RELEASE);
	return true;
}

/* The profile that counts, with the thread's table as it should be; NULL: not this one. */
static struct ag_profile *take_part(struct ag_teller *teller)
{
	/* in this order: as long as it counts, it is there */
	struct ag_profile *profile = __atomic_load_n(&present, __ATOMIC_SEQ_CST);
	uint64_t on = __atomic_load_n(&counting, __ATOMIC_SEQ_CST);

	if (on == 0 || !profile || teller->jni == profile->own)
		return NULL;
	if (teller->on != on && !settle(profile, teller, on)) {
		ag_exact_drop(profile, 1);
		return NULL;
	}
	return profile;
}

static inline bool is_on(void)
{
	return __atomic_load_n(&counting, __ATOMIC_RELAXED) != 0;
}

/* The thread, when it is in a hook from now on; until ag_teller_go(). */
static inline struct ag_teller *enter(JNIEnv *jni)
{
	struct ag_teller *teller;

	if (!is_on())
		return NULL;
	teller = teller_of(jni);
	if (LIKELY(teller && come(teller)))
		return teller;
	if (!teller)
		(void)__atomic_fetch_add(&crowd, 1, __ATOMIC_RELAXED);
	return NULL;
}

/* The thread's table, if nothing has changed since it was made. */
static inline struct ag_cells *fast_cells(const struct ag_teller *teller)
{
	uint64_t on = __atomic_load_n(&counting, __ATOMIC_SEQ_CST);

	return LIKELY(teller->on == on && on != 0) ? teller->fast : NULL;
}

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

static __attribute__((noinline)) void made_slowly(struct ag_teller *teller, jobject object,
						  jint hash)
{
	struct ag_profile *profile = take_part(teller);
	struct ag_cell *cell;
	uint64_t bytes = 0;

	if (!profile)
		return;
	cell = hash > 0 ? class_cell(profile, teller, object, hash) : NULL;
	if (!cell) {
		ag_exact_drop(profile, 1);
		return;
	}
	if (cell->flags & AG_CELL_VARIES)
		bytes = size_of(profile, object);
	ag_cell_add(profile, teller, cell, 1, bytes, object, AG_MADE_BY_CONSTRUCTOR);
}

void JNICALL ag_hook_made(JNIEnv *jni, jclass hooks, jobject object, jint hash)
{
	struct ag_teller *teller = enter(jni);
	struct ag_cells *cells;

	(void)hooks;
	if (!teller)
		return;
	cells = fast_cells(teller);
	if (LIKELY(cells != NULL)) {
		struct ag_cell *cell = probe(cells, (uint32_t)hash);

		if (LIKELY(cell->count + 1 < cell->next)) { /* 0 of an unused one */
			RELAXED_SET(cell->count, cell->count + 1);
			ag_teller_go(teller);
			return;
		}
	}
	made_slowly(teller, object, hash);
	ag_teller_go(teller);
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

static uint64_t key_of(jint number)
{
	return AG_KEY_PLACE | (uint32_t)number;
}

static __attribute__((noinline)) void array_slowly(struct ag_teller *teller, jobject array,
						   jint length, jint number)
{
	struct ag_profile *profile = take_part(teller);
	const struct ag_place *place;
	struct ag_cell *cell;
	bool is_new;

	place = profile ? ag_place_of(profile->exact, number) : NULL;
	if (!place || place->array == AG_KIND_NONE)
		return;
	cell = ag_cell_of(profile, teller, key_of(number), &is_new);
	if (!cell) {
		ag_exact_drop(profile, 1);
		return;
	}
	if (is_new)
		fill_array(profile, teller, cell, key_of(number), place->array);
	ag_cell_add(profile, teller, cell, 1, ag_size_of(profile->exact->sizes.align, cell, length),
		    array, AG_MADE_BY_CODE);
}

void JNICALL ag_hook_array(JNIEnv *jni, jclass hooks, jobject array, jint length, jint number)
{
	struct ag_teller *teller = enter(jni);
	struct ag_cells *cells;

	(void)hooks;
	if (!teller)
		return;
	cells = fast_cells(teller);
	if (LIKELY(cells != NULL)) {
		struct ag_cell *cell = probe(cells, key_of(number));

		if (LIKELY(cell->count + 1 < cell->next)) {
			uint64_t size = ag_size_of(cells->align, cell, length);

			RELAXED_SET(cell->count, cell->count + 1);
			RELAXED_SET(cell->bytes, cell->bytes + size);
			ag_teller_go(teller);
			return;
		}
	}
	array_slowly(teller, array, length, number);
	ag_teller_go(teller);
}

/* Arrays of arrays */

/* All of one level at once. */
static struct ag_cell *level_cell(struct ag_profile *profile, struct ag_teller *teller,
				  jint number, const struct ag_place *place, uint32_t level)
{
	uint64_t key = key_of(number) | AG_KEY_SUB(level);
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

void JNICALL ag_hook_arrays(JNIEnv *jni, jclass hooks, jobject array, jint number)
{
	struct ag_teller *teller = enter(jni);
	struct ag_profile *profile;
	const struct ag_place *place;

	(void)hooks;
	if (!teller)
		return;
	profile = take_part(teller);
	place = profile ? ag_place_of(profile->exact, number) : NULL;
	if (place && place->array != AG_KIND_NONE && array)
		add_levels(profile, teller, array, number, place);
	ag_teller_go(teller);
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

void JNICALL ag_hook_result(JNIEnv *jni, jclass hooks, jobject result, jint number)
{
	struct ag_teller *teller = result ? enter(jni) : NULL;
	struct ag_profile *profile;
	const struct ag_place *place;

	(void)hooks;
	if (!teller)
		return;
	profile = take_part(teller);
	place = profile ? ag_place_of(profile->exact, number) : NULL;
	if (place)
		add_object(profile, teller, key_of(number), result, place);
	ag_teller_go(teller);
}

void JNICALL ag_exact_vm_alloc(jvmtiEnv *ti, JNIEnv *jni, jthread thread, jobject object,
			       jclass class, jlong size)
{
	struct ag_teller *teller = object ? enter(jni) : NULL;
	struct ag_profile *profile;

	(void)ti, (void)thread, (void)class, (void)size;
	if (!teller)
		return;
	profile = take_part(teller);
	if (profile && !ag_exact_is_told(profile, jni))
		add_object(profile, teller, AG_KEY_VM, object, NULL);
	ag_teller_go(teller);
}

/* Beginning and ending */

void ag_hooks_share(struct ag_exact *exact, jint hash)
{
	uint32_t at = __atomic_fetch_add(&exact->n_shared, 1, __ATOMIC_ACQ_REL);
	uint64_t on = __atomic_load_n(&counting, __ATOMIC_RELAXED);

	if (at < AG_SHARED_MAX)
		__atomic_store_n(&exact->shared[at], (uint32_t)hash, __ATOMIC_RELEASE);
	while (on != 0 && !__atomic_compare_exchange_n(&counting, &on, on + 1, false,
						       __ATOMIC_SEQ_CST, __ATOMIC_RELAXED))
		;
}

void ag_hooks_open(struct ag_profile *profile)
{
	__atomic_store_n(&crowd, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&present, profile, __ATOMIC_SEQ_CST);
}

int ag_hooks_on(struct ag_jvm *jvm, struct ag_profile *profile)
{
	(void)jvm;
	serial = serial == INT32_MAX ? 1 : serial + 1;
	profile->exact->serial = serial;
	__atomic_store_n(&counting, (uint64_t)serial << 32, __ATOMIC_SEQ_CST);
	return 0;
}

bool ag_hooks_busy(void)
{
	for (uint32_t i = 0; i < AG_TELLERS; i++) {
		if (__atomic_load_n(&ag_tellers[i].busy, __ATOMIC_SEQ_CST))
			return true;
	}
	return false;
}

void ag_hooks_off(struct ag_profile *profile)
{
	__atomic_store_n(&counting, 0, __ATOMIC_SEQ_CST);
	__atomic_store_n(&present, NULL, __ATOMIC_SEQ_CST);
	for (int ms = 0; ag_hooks_busy() && ms < OFF_MS; ms++)
		(void)poll(NULL, 0, 1);
	if (ag_hooks_busy())
		__atomic_store_n(&profile->left, 1, __ATOMIC_RELEASE);
	ag_exact_drop(profile, __atomic_exchange_n(&crowd, 0, __ATOMIC_RELAXED));
}
