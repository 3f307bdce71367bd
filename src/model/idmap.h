/*
 * A map from identifiers to numbers, as dumps need: open addressing, nothing is ever removed.
 */
#ifndef JTOOL_MODEL_IDMAP_H
#define JTOOL_MODEL_IDMAP_H

#include <stddef.h>
#include <stdint.h>

#define IDMAP_NONE UINT32_MAX

struct idmap_entry {
	uint64_t id;
	uint32_t number; /* IDMAP_NONE: free */
};

/* All zero is an empty one. */
struct idmap {
	struct idmap_entry *entries;
	size_t n, cap;   /* cap: a power of two */
	unsigned shift;  /* 64 - log2(cap) */
	uint64_t factor; /* by lot: nobody can choose identifiers that all want one place */
};

void idmap_release(struct idmap *m);
/* IDMAP_NONE: it is not there. */
uint32_t idmap_get(const struct idmap *m, uint64_t id);
/* The number that is there, or that it has from now on. */
uint32_t idmap_add(struct idmap *m, uint64_t id, uint32_t number);
/* Another number for what is there. */
void idmap_set(struct idmap *m, uint64_t id, uint32_t number);

#endif
