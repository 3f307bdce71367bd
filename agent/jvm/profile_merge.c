/* Adding up threads' tables, also while they count. */
#include "jvm/profile_exact_state.h"

static struct ag_cells *cells_of(const struct ag_exact *exact, uint32_t i)
{
	const struct ag_teller *teller = &ag_tellers[i];

	if (exact->serial == 0 ||
	    __atomic_load_n(&teller->on, __ATOMIC_ACQUIRE) >> 32 != exact->serial)
		return NULL;
	return __atomic_load_n(&teller->cells, __ATOMIC_ACQUIRE);
}

static bool is_counted(const struct ag_cell *cell)
{
	return __atomic_load_n(&cell->key, __ATOMIC_ACQUIRE) != 0 && cell->kind != AG_KIND_NONE;
}

static void take_back(struct ag_profile *profile)
{
	for (struct ag_given *g = profile->exact->given; g; g = g->next) {
		for (uint32_t i = 0; i < g->n; i++)
			ag_sites_add(&profile->sites, g->rows[i].site, -(g->rows[i].objects << 8),
				     -g->rows[i].bytes, 0);
		g->n = 0;
	}
}

static struct ag_given *given_room(struct ag_profile *profile)
{
	struct ag_given **at = &profile->exact->given;

	while (*at && (*at)->n == sizeof((*at)->rows) / sizeof((*at)->rows[0]))
		at = &(*at)->next;
	if (!*at)
		*at = ag_arena_take(&profile->arena, sizeof(**at));
	return *at;
}

/* For the time being: the thread goes on, and its next walk stands for these, too. */
static bool lend(struct ag_profile *profile, uint32_t site, uint64_t objects, uint64_t bytes)
{
	struct ag_given *given = given_room(profile);

	if (!given)
		return false;
	given->rows[given->n].objects = objects;
	given->rows[given->n].bytes = bytes;
	given->rows[given->n].site = site;
	given->n++;
	return true;
}

/* What no walk stands for goes where the last one was.  How many there is no place for. */
static uint64_t merge_cell(struct ag_profile *profile, struct ag_cell *cell)
{
	/* in this order: what was told is less than what is counted, whatever happens meanwhile */
	uint64_t told_bytes = __atomic_load_n(&cell->told_bytes, __ATOMIC_ACQUIRE);
	uint64_t told = __atomic_load_n(&cell->told, __ATOMIC_ACQUIRE);
	uint64_t count = __atomic_load_n(&cell->count, __ATOMIC_ACQUIRE);
	uint32_t site = __atomic_load_n(&cell->site, __ATOMIC_RELAXED);
	uint64_t bytes = ag_cell_bytes(cell, count) - told_bytes;

	if (count <= told)
		return 0;
	if (site == AG_SITE_NONE)
		return count - told;
	if (profile->exact->still) {
		cell->told_bytes += bytes;
		cell->told = count;
	} else if (!lend(profile, site, count - told, bytes)) {
		return count - told;
	}
	ag_sites_add(&profile->sites, site, (count - told) << 8, bytes, 0);
	return 0;
}

void ag_exact_merge(struct ag_profile *profile)
{
	uint64_t lost = 0;

	take_back(profile);
	for (uint32_t i = 0; i < AG_TELLERS; i++) {
		struct ag_cells *cells = cells_of(profile->exact, i);

		for (uint32_t c = 0; cells && c <= cells->mask; c++) {
			if (is_counted(&cells->at[c]))
				lost += merge_cell(profile, &cells->at[c]);
		}
	}
	ag_exact_drop(profile, lost - profile->exact->lost); /* there may be fewer than before */
	profile->exact->lost = lost;
}

void ag_exact_state(const struct ag_profile *profile, struct ag_profile_state *state)
{
	state->samples = state->bytes = 0;
	for (uint32_t i = 0; i < AG_TELLERS; i++) {
		const struct ag_cells *cells = cells_of(profile->exact, i);

		for (uint32_t c = 0; cells && c <= cells->mask; c++) {
			const struct ag_cell *cell = &cells->at[c];
			uint64_t count = __atomic_load_n(&cell->count, __ATOMIC_RELAXED);

			if (!is_counted(cell))
				continue;
			state->samples += count;
			state->bytes += ag_cell_bytes(cell, count);
		}
	}
	if (profile->exact->weaving)
		ag_weaving_count(profile->exact->weaving, &state->hooked, &state->refused);
}
