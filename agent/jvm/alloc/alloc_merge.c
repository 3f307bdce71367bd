/* Adds the counts in the threads' tables to the sites, even while the threads are counting. */
#include "jvm/alloc/alloc_exact_state.h"

static struct ag_thread_counts *cells_of(const struct ag_exact *exact, uint32_t i)
{
	const struct ag_thread_slot *slot = &ag_thread_slots[i];

	if (exact->serial == 0 ||
	    __atomic_load_n(&slot->on, __ATOMIC_ACQUIRE) >> 32 != exact->serial)
		return NULL;
	return __atomic_load_n(&slot->cells, __ATOMIC_ACQUIRE);
}

static bool is_counted(const struct ag_count_cell *cell)
{
	return __atomic_load_n(&cell->key, __ATOMIC_ACQUIRE) != 0 &&
	       cell->kind != AG_ALLOC_CLASS_NONE;
}

static void revert_provisional(struct ag_alloc_profile *profile)
{
	for (struct ag_provisional *g = profile->exact->provisional; g; g = g->next) {
		for (uint32_t i = 0; i < g->n; i++)
			ag_sites_add(&profile->sites, g->rows[i].site, -(g->rows[i].objects << 8),
				     -g->rows[i].bytes, 0);
		g->n = 0;
	}
}

static struct ag_provisional *provisional_room(struct ag_alloc_profile *profile)
{
	struct ag_provisional **at = &profile->exact->provisional;

	while (*at && (*at)->n == sizeof((*at)->rows) / sizeof((*at)->rows[0]))
		at = &(*at)->next;
	if (!*at)
		*at = ag_arena_take(&profile->arena, sizeof(**at));
	return *at;
}

/*
 * Records that a merge adds these objects to a site provisionally (struct ag_provisional), so that
 * the next merge can subtract them.  Returns false if there is no room.
 */
static bool add_provisional(struct ag_alloc_profile *profile, uint32_t site, uint64_t objects,
			    uint64_t bytes)
{
	struct ag_provisional *provisional = provisional_room(profile);

	if (!provisional)
		return false;
	provisional->rows[provisional->n].objects = objects;
	provisional->rows[provisional->n].bytes = bytes;
	provisional->rows[provisional->n].site = site;
	provisional->n++;
	return true;
}

/*
 * Takes the objects that a cell has counted since its last stack walk, and adds them to the site
 * that this walk found.  Returns the number of objects that could not be added.
 */
static uint64_t merge_cell(struct ag_alloc_profile *profile, struct ag_count_cell *cell)
{
	/* Read in the reverse order of the stores in walk(), so that count >= attributed. */
	uint64_t attributed_bytes = __atomic_load_n(&cell->attributed_bytes, __ATOMIC_ACQUIRE);
	uint64_t attributed = __atomic_load_n(&cell->attributed, __ATOMIC_ACQUIRE);
	uint64_t count = __atomic_load_n(&cell->count, __ATOMIC_ACQUIRE);
	uint32_t site = __atomic_load_n(&cell->site, __ATOMIC_RELAXED);
	uint64_t bytes = ag_count_cell_bytes(cell, count) - attributed_bytes;

	if (count <= attributed)
		return 0;
	if (site == AG_SITE_NONE)
		return count - attributed;
	if (profile->exact->stopped) {
		cell->attributed_bytes += bytes;
		cell->attributed = count;
	} else if (!add_provisional(profile, site, count - attributed, bytes)) {
		return count - attributed;
	}
	ag_sites_add(&profile->sites, site, (count - attributed) << 8, bytes, 0);
	return 0;
}

void ag_exact_merge(struct ag_alloc_profile *profile)
{
	uint64_t lost = 0;

	revert_provisional(profile);
	for (uint32_t i = 0; i < AG_THREAD_SLOTS; i++) {
		struct ag_thread_counts *cells = cells_of(profile->exact, i);

		for (uint32_t c = 0; cells && c <= cells->mask; c++) {
			if (is_counted(&cells->at[c]))
				lost += merge_cell(profile, &cells->at[c]);
		}
	}
	/*
	 * `dropped` includes the objects that the previous merge could not add: exact->lost.  In
	 * `dropped`, replace their number by that of this merge.  The difference may be negative.
	 */
	ag_exact_drop(profile, lost - profile->exact->lost);
	profile->exact->lost = lost;
}

void ag_exact_state(const struct ag_alloc_profile *profile, struct ag_alloc_profile_state *state)
{
	state->samples = state->bytes = 0;
	for (uint32_t i = 0; i < AG_THREAD_SLOTS; i++) {
		const struct ag_thread_counts *cells = cells_of(profile->exact, i);

		for (uint32_t c = 0; cells && c <= cells->mask; c++) {
			const struct ag_count_cell *cell = &cells->at[c];
			uint64_t count = __atomic_load_n(&cell->count, __ATOMIC_RELAXED);

			if (!is_counted(cell))
				continue;
			state->samples += count;
			state->bytes += ag_count_cell_bytes(cell, count);
		}
	}
	if (profile->exact->alloc_code)
		ag_alloc_code_count(profile->exact->alloc_code, &state->hooked, &state->refused);
}
