/*
 * Manages each thread's table of counters, and decides for which allocations the stack is walked.
 */
#ifndef __clang__ /* clang does not have this pragma */
#pragma GCC optimize("O2")
#endif

#include "jvm/alloc/alloc_exact_state.h"

#define CELLS_FIRST 32u

void ag_exact_drop(struct ag_alloc_profile *profile, uint64_t n)
{
	(void)__atomic_fetch_add(&profile->dropped, n, __ATOMIC_RELAXED);
}

static struct ag_thread_counts *new_cells(struct ag_alloc_profile *profile, uint32_t n)
{
	/* The cells need alignment; the arena aligns every block that is at least a cache line. */
	struct ag_thread_counts *cells =
		ag_arena_take(&profile->arena, sizeof(*cells) + n * sizeof(cells->at[0]));

	if (!cells)
		return NULL;
	cells->mask = n - 1;
	cells->align = profile->exact->sizes.align;
	return cells;
}

static void set_cells(struct ag_alloc_profile *profile, struct ag_thread_slot *slot,
		      struct ag_thread_counts *cells)
{
	__atomic_store_n(&slot->cells, cells, __ATOMIC_RELEASE);
	slot->fast = profile->wanted.flags & WIRE_ALLOC_LIVE ? NULL : cells;
}

/* Replaces the table by a copy of twice the size.  A merge may still be reading the old table. */
static bool grow(struct ag_alloc_profile *profile, struct ag_thread_slot *slot)
{
	struct ag_thread_counts *old = slot->cells;
	struct ag_thread_counts *cells = new_cells(profile, 2 * (old->mask + 1));

	if (!cells)
		return false;
	for (uint32_t i = 0; i <= old->mask; i++) {
		if (old->at[i].key != 0)
			*ag_count_cell_probe(cells, old->at[i].key) = old->at[i];
	}
	cells->n = old->n;
	set_cells(profile, slot, cells);
	return true;
}

/*
 * Returns true if the table has room for one more cell.  Doubles the table first if it is half
 * full.  If the table cannot grow, one cell in eight stays unused, because a probe ends only at an
 * unused cell or at the cell that it looks for.
 */
static bool has_room(struct ag_alloc_profile *profile, struct ag_thread_slot *slot)
{
	uint32_t size = slot->cells->mask + 1;

	if (slot->cells->n < size / 2)
		return true;
	return grow(profile, slot) || slot->cells->n < size - size / 8;
}

struct ag_count_cell *ag_count_cell_of(struct ag_alloc_profile *profile,
				       struct ag_thread_slot *slot, uint64_t key, bool *is_new)
{
	struct ag_count_cell *cell = ag_count_cell_probe(slot->cells, key);

	*is_new = cell->key == 0;
	if (!*is_new)
		return cell;
	if (!has_room(profile, slot))
		return NULL;
	cell = ag_count_cell_probe(slot->cells, key);
	cell->next = 1;
	cell->site = AG_SITE_NONE;
	return cell;
}

void ag_count_cell_publish(struct ag_thread_slot *slot, struct ag_count_cell *cell, uint64_t key)
{
	slot->cells->n++;
	__atomic_store_n(&cell->key, key, __ATOMIC_RELEASE);
}

static uint64_t next_random(struct ag_thread_slot *slot)
{
	slot->random ^= slot->random << 13; /* xorshift by Marsaglia */
	slot->random ^= slot->random >> 7;
	slot->random ^= slot->random << 17;
	return slot->random;
}

/* Returns true if all stack walks together have exceeded their budget of time (alloc_exact.h). */
static bool is_over_budget(const struct ag_exact *exact, int64_t now_ns)
{
	return __atomic_load_n(&exact->walks_ns, __ATOMIC_RELAXED) >
		AG_WALKS_NS + (uint64_t)(now_ns - exact->began_ns) / AG_WALKS_PART;
}

static uint64_t gap(struct ag_thread_slot *slot, uint64_t count, uint64_t walks)
{
	uint64_t mean = count / walks;

	return mean == 0 ? 1 : 1 + next_random(slot) % (2 * mean);
}

/*
 * Walks the stack for a cell.  Takes the objects that the cell has counted since its previous walk,
 * and adds them to the site that this walk finds; or to the site of the previous walk, if there is
 * no room for a new site.
 */
static __attribute__((noinline)) void walk(struct ag_alloc_profile *profile,
					   struct ag_thread_slot *slot,
					   struct ag_count_cell *cell, enum ag_alloc_origin origin)
{
	jvmtiFrameInfo frames[WIRE_ALLOC_DEPTH + AG_CONSTRUCTORS];
	struct ag_exact *exact = profile->exact;
	int64_t from_ns = ag_now_ns(), to_ns;
	uint64_t bytes = ag_count_cell_bytes(cell, cell->count);
	uint32_t n = ag_exact_stack(profile, slot->jni, origin, frames);
	uint32_t site = ag_sites_find(&profile->sites, cell->kind, frames, n);

	if (site != AG_SITE_NONE)
		AG_RELAXED_SET(cell->site, site);
	else if (cell->site != AG_SITE_NONE)
		(void)__atomic_fetch_add(&exact->misattributed, cell->count - cell->attributed,
					 __ATOMIC_RELAXED);
	if (cell->site != AG_SITE_NONE) {
		ag_sites_add(&profile->sites, cell->site, (cell->count - cell->attributed) << 8,
			     bytes - cell->attributed_bytes, 1);
		__atomic_store_n(&cell->attributed, cell->count, __ATOMIC_RELEASE);
		__atomic_store_n(&cell->attributed_bytes, bytes, __ATOMIC_RELEASE);
	}
	to_ns = ag_now_ns();
	(void)__atomic_fetch_add(&exact->walks_ns, (uint64_t)(to_ns - from_ns), __ATOMIC_RELAXED);
	cell->next = cell->count + gap(slot, cell->count,
				       is_over_budget(exact, to_ns) ? AG_WALK_FEW : AG_WALK_ALL);
}

void ag_count_cell_add(struct ag_alloc_profile *profile, struct ag_thread_slot *slot,
		       struct ag_count_cell *cell, uint64_t n, uint64_t bytes, jobject object,
		       enum ag_alloc_origin origin)
{
	AG_RELAXED_SET(cell->count, cell->count + n);
	if (cell->flags & AG_CELL_VARIES)
		AG_RELAXED_SET(cell->bytes, cell->bytes + bytes);
	if (cell->kind == AG_ALLOC_CLASS_NONE)
		return;
	if (cell->count >= cell->next)
		walk(profile, slot, cell, origin);
	if (object && profile->wanted.flags & WIRE_ALLOC_LIVE && cell->site != AG_SITE_NONE)
		ag_live_mark(profile, object, cell->site, 0);
}

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

/* Sets AG_CELL_SHARED in each cell whose class has the same hash as another class. */
static void divide(const struct ag_exact *exact, struct ag_thread_counts *cells)
{
	for (uint32_t i = 0; i <= cells->mask; i++) {
		struct ag_count_cell *cell = &cells->at[i];

		if (cell->key == 0 || cell->key >= AG_KEY_ARRAY_SITE ||
		    !ag_exact_is_shared(exact, cell->key))
			continue;
		AG_RELAXED_SET(cell->flags, cell->flags | AG_CELL_SHARED);
		cell->next = 0;
	}
}

bool ag_thread_counts_refresh(struct ag_alloc_profile *profile, struct ag_thread_slot *slot,
			      uint64_t on)
{
	if (slot->on >> 32 != on >> 32) {
		struct ag_thread_counts *cells = new_cells(profile, CELLS_FIRST);

		if (!cells)
			return false;
		slot->random = ((uint64_t)(uintptr_t)slot->jni ^ on) | 1;
		set_cells(profile, slot, cells);
	} else {
		divide(profile->exact, slot->cells);
	}
	__atomic_store_n(&slot->on, on, __ATOMIC_RELEASE);
	return true;
}
