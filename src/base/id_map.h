/*
 * A hash table that maps 64-bit identifiers to numbers, such as array indexes.  It uses open
 * addressing, and nothing is ever removed.
 *
 * To find an element by its content, use a hash of the content as the identifier.  If the map finds
 * an element with other content under this identifier, add 1 to the identifier and try again.
 */
#ifndef JTOOL_BASE_ID_MAP_H
#define JTOOL_BASE_ID_MAP_H

#include <stddef.h>
#include <stdint.h>

#define ID_MAP_NONE UINT32_MAX

struct id_map_entry {
	uint64_t id;
	uint32_t number; /* ID_MAP_NONE: this entry is free */
};

/* A zero-initialised map is empty. */
struct id_map {
	struct id_map_entry *entries;
	size_t n, cap;   /* cap: a power of two */
	unsigned shift;  /* 64 - log2(cap) */
	uint64_t factor; /* random, so that a target cannot choose colliding identifiers */
};

void id_map_release(struct id_map *m);
/* Returns the number of an identifier; ID_MAP_NONE if the identifier is not in the map. */
uint32_t id_map_get(const struct id_map *m, uint64_t id);
/*
 * Adds the identifier with this number, unless the identifier is in the map already.  Returns the
 * number that the identifier then has in the map.
 */
uint32_t id_map_add(struct id_map *m, uint64_t id, uint32_t number);
/* Changes the number of an identifier that is in the map. */
void id_map_set(struct id_map *m, uint64_t id, uint32_t number);

#endif
