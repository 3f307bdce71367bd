/* Threads' tables, and the walks of stacks. */
#ifndef __clang__ /* which has no such pragma */
#pragma GCC optimize("O2")
#endif

#include "jvm/profile_exact_state.h"

#define CELLS_FIRST 32u

void ag_exact_drop(struct ag_profile *profile, uint64_t n)
{
	(void)__atomic_fetch_add(&profile->dropped, n, __ATOMIC_RELAXED);
}

/* Cells */

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
			*ag_cell_probe(cells, old->at[i].key) = old->at[i];
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
	struct ag_cell *cell = ag_cell_probe(teller->cells, key);

	*is_new = cell->key == 0;
	if (!*is_new)
		return cell;
	if (!has_room(profile, teller))
		return NULL;
	cell = ag_cell_probe(teller->cells, key);
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
		AG_RELAXED_SET(cell->site, site);
	else if (cell->site != AG_SITE_NONE)
		(void)__atomic_fetch_add(&exact->strayed, cell->count - cell->told,
					 __ATOMIC_RELAXED);
	if (cell->site != AG_SITE_NONE) {
		ag_sites_add(&profile->sites, cell->site, (cell->count - cell->told) << 8,
			     bytes - cell->told_bytes, 1);
		__atomic_store_n(&cell->told, cell->count, __ATOMIC_RELEASE);
		__atomic_store_n(&cell->told_bytes, bytes, __ATOMIC_RELEASE);
	}
	to_ns = ag_now_ns();
	(void)__atomic_fetch_add(&exact->walks_ns, (uint64_t)(to_ns - from_ns), __ATOMIC_RELAXED);
	cell->next = cell->count + gap(teller, cell->count,
				       is_dear(exact, to_ns) ? AG_WALK_FEW : AG_WALK_ALL);
}

void ag_cell_add(struct ag_profile *profile, struct ag_teller *teller, struct ag_cell *cell,
		 uint64_t n, uint64_t bytes, jobject object, enum ag_made_by by)
{
	AG_RELAXED_SET(cell->count, cell->count + n);
	if (cell->flags & AG_CELL_VARIES)
		AG_RELAXED_SET(cell->bytes, cell->bytes + bytes);
	if (cell->kind == AG_KIND_NONE)
		return;
	if (cell->count >= cell->next)
		walk(profile, teller, cell, by);
	if (object && profile->wanted.flags & WIRE_ALLOC_LIVE && cell->site != AG_SITE_NONE)
		ag_live_mark(profile, object, cell->site, 0);
}

/* Hashes of two classes */

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

bool ag_cells_settle(struct ag_profile *profile, struct ag_teller *teller, uint64_t on)
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
