/*
 * A hash table from a word, an address mostly, to a number and a note.  Of fixed size like
 * ag_map, and for the same reason, unless its owner lets it grow.
 */
#ifndef JTOOL_AGENT_BASE_NUMBERS_H
#define JTOOL_AGENT_BASE_NUMBERS_H

#include <stdint.h>

#include "base/mem.h"

struct ag_number {
	uint64_t key; /* 0: empty */
	uint32_t number;
	uint32_t note; /* the owner's */
};

struct ag_numbers {
	struct ag_number *slots; /* a power of two, at least twice what may be added */
	unsigned shift;          /* 64 - log2(number of slots) */
	uint32_t n, max;
};

/* Room for max keys; -1: no memory. */
int ag_numbers_init(struct ag_numbers *numbers, struct ag_mem *mem, uint32_t max)
	__attribute__((warn_unused_result));
/* Zeroed ones are allowed. */
void ag_numbers_release(struct ag_numbers *numbers, struct ag_mem *mem);

/* Room for twice as many, but no more than max; -1: no memory, or it is. */
int ag_numbers_grow(struct ag_numbers *numbers, struct ag_mem *mem, uint32_t max)
	__attribute__((warn_unused_result));

/* NULL when the key is 0 or there already, or the table is full. */
struct ag_number *ag_numbers_add(struct ag_numbers *numbers, uint64_t key, uint32_t number);

/* The number of slots, to visit them all. */
static inline size_t ag_numbers_slots(const struct ag_numbers *numbers)
{
	return (size_t)1 << (64 - numbers->shift);
}

/* The slot of a key, or the empty one where it would go. */
static inline struct ag_number *ag_numbers_probe(const struct ag_numbers *numbers, uint64_t key)
{
	size_t mask = ag_numbers_slots(numbers) - 1;
	/* 2^64 / golden ratio, as in ag_map */
	size_t i = (size_t)(key * UINT64_C(0x9e3779b97f4a7c15) >> numbers->shift);

	while (numbers->slots[i].key != key && numbers->slots[i].key != 0)
		i = (i + 1) & mask;
	return &numbers->slots[i];
}

#endif
