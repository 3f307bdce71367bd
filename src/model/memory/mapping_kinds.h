/*
 * Classifies the mappings of a JVM.  The kind of a mapping depends on the address ranges that the
 * JVM reports, on the mapping's file or name, and on the adjacent mappings.  Does no I/O.
 */
#ifndef JTOOL_MODEL_MEMORY_MAPPING_KINDS_H
#define JTOOL_MODEL_MEMORY_MAPPING_KINDS_H

#include "model/memory/memory_parts.h"

/*
 * The kind of a mapping is an enum memory_part, or one of these pools.  When the sizes of all
 * mappings are known, memory_parts.c divides the pools among the parts.
 */
enum {
	POOL_ARENAS = N_MEMORY_PARTS, /* malloc's arenas */
	POOL_RESERVED, /* memory that HotSpot has committed at the start of a reservation */
	POOL_OTHER,                   /* other anonymous memory */
	N_POOLS,
};

struct mapping_kinds {
	const struct mappings *maps;
	memory_is_agent *is_agent;
	struct jvm_range *ranges; /* sorted by address, without overlaps */
	size_t n_ranges;
};

/*
 * Copies the address ranges that the JVM has reported.  If the JVM has not reported the range of
 * the heap, searches `maps` for the heap.
 */
void mapping_kinds_init(struct mapping_kinds *s, const struct mappings *maps,
			const struct jvm_memory *jvm, memory_is_agent *is_agent);
void mapping_kinds_release(struct mapping_kinds *s);

bool mapping_kinds_has_range(const struct mapping_kinds *s, enum jvm_range_kind kind);

/*
 * Returns the kind (PART_… or POOL_…) of mapping i.  If a part of the mapping is in `ranges`,
 * returns the kind of the rest of the mapping.
 */
int mapping_kind(const struct mapping_kinds *s, size_t i);

bool mapping_is_anonymous(const struct mapping *m);
bool mapping_is_inaccessible(const struct mapping *m);

#endif
