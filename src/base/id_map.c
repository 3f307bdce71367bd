#include "base/id_map.h"

#include <stdlib.h>

#include "base/xalloc.h"

#define CAP_FIRST_BITS 8
#define CAP_FIRST ((size_t)1 << CAP_FIRST_BITS)

void id_map_release(struct id_map *m)
{
	free(m->entries);
	*m = (struct id_map){ 0 };
}

/* Multiplies the id by the factor.  Returns the highest bits, which every bit of the id affects. */
static size_t first_slot(const struct id_map *m, uint64_t id)
{
	return (size_t)(id * m->factor >> m->shift);
}

/*
 * Returns the entry with this identifier; if there is none, the free entry where the identifier
 * would be added.  The search ends, because at least half of the entries are free.
 */
static struct id_map_entry *find(const struct id_map *m, uint64_t id)
{
	size_t at = first_slot(m, id);

	while (m->entries[at].number != ID_MAP_NONE && m->entries[at].id != id)
		at = (at + 1) & (m->cap - 1);
	return &m->entries[at];
}

uint32_t id_map_get(const struct id_map *m, uint64_t id)
{
	return m->cap ? find(m, id)->number : ID_MAP_NONE;
}

static void grow(struct id_map *m)
{
	struct id_map old = *m;

	if (!m->factor) {
		arc4random_buf(&m->factor, sizeof(m->factor));
		m->factor |= 1;
	}
	m->cap = old.cap ? old.cap * 2 : CAP_FIRST;
	m->shift = old.cap ? old.shift - 1 : 64 - CAP_FIRST_BITS;
	m->entries = xreallocarray(NULL, m->cap, sizeof(*m->entries));
	for (size_t i = 0; i < m->cap; i++)
		m->entries[i].number = ID_MAP_NONE;
	for (size_t i = 0; i < old.cap; i++) {
		if (old.entries[i].number != ID_MAP_NONE)
			*find(m, old.entries[i].id) = old.entries[i];
	}
	free(old.entries);
}

uint32_t id_map_add(struct id_map *m, uint64_t id, uint32_t number)
{
	struct id_map_entry *e;

	if (m->n >= m->cap / 2)
		grow(m);
	e = find(m, id);
	if (e->number == ID_MAP_NONE) {
		*e = (struct id_map_entry){ id, number };
		m->n++;
	}
	return e->number;
}

void id_map_set(struct id_map *m, uint64_t id, uint32_t number)
{
	find(m, id)->number = number;
}
