#include "model/idmap.h"

#include <stdlib.h>

#include "base/xalloc.h"

#define CAP_FIRST_BITS 8
#define CAP_FIRST ((size_t)1 << CAP_FIRST_BITS)

void idmap_release(struct idmap *m)
{
	free(m->entries);
	*m = (struct idmap){ 0 };
}

/* Whatever bits identifiers differ in, a multiplication brings them to the top. */
static size_t first_place(const struct idmap *m, uint64_t id)
{
	return (size_t)(id * m->factor >> m->shift);
}

/* Where it is, or would be; there is always a free place. */
static struct idmap_entry *find(const struct idmap *m, uint64_t id)
{
	size_t at = first_place(m, id);

	while (m->entries[at].number != IDMAP_NONE && m->entries[at].id != id)
		at = (at + 1) & (m->cap - 1);
	return &m->entries[at];
}

uint32_t idmap_get(const struct idmap *m, uint64_t id)
{
	return m->cap ? find(m, id)->number : IDMAP_NONE;
}

static void grow(struct idmap *m)
{
	struct idmap old = *m;

	if (!m->factor) {
		arc4random_buf(&m->factor, sizeof(m->factor));
		m->factor |= 1;
	}
	m->cap = old.cap ? old.cap * 2 : CAP_FIRST;
	m->shift = old.cap ? old.shift - 1 : 64 - CAP_FIRST_BITS;
	m->entries = xreallocarray(NULL, m->cap, sizeof(*m->entries));
	for (size_t i = 0; i < m->cap; i++)
		m->entries[i].number = IDMAP_NONE;
	for (size_t i = 0; i < old.cap; i++) {
		if (old.entries[i].number != IDMAP_NONE)
			*find(m, old.entries[i].id) = old.entries[i];
	}
	free(old.entries);
}

uint32_t idmap_add(struct idmap *m, uint64_t id, uint32_t number)
{
	struct idmap_entry *e;

	if (m->n >= m->cap / 2)
		grow(m);
	e = find(m, id);
	if (e->number == IDMAP_NONE) {
		*e = (struct idmap_entry){ id, number };
		m->n++;
	}
	return e->number;
}

void idmap_set(struct idmap *m, uint64_t id, uint32_t number)
{
	find(m, id)->number = number;
}
