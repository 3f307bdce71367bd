#include "base/numbers.h"

int ag_numbers_init(struct ag_numbers *numbers, struct ag_mem *mem, uint32_t max)
{
	unsigned bits = 4;

	while (((uint64_t)1 << bits) < (uint64_t)max * 2)
		bits++;
	*numbers = (struct ag_numbers){ .shift = 64 - bits, .max = max };
	numbers->slots = ag_alloc(mem, (size_t)1 << bits, sizeof(*numbers->slots));
	return numbers->slots ? 0 : -1;
}

void ag_numbers_release(struct ag_numbers *numbers, struct ag_mem *mem)
{
	ag_free(mem, numbers->slots);
	*numbers = (struct ag_numbers){ 0 };
}

struct ag_number *ag_numbers_add(struct ag_numbers *numbers, uint64_t key, uint32_t number)
{
	struct ag_number *slot;

	if (key == 0 || numbers->n == numbers->max)
		return NULL;
	slot = ag_numbers_probe(numbers, key);
	if (slot->key == key)
		return NULL;
	*slot = (struct ag_number){ .key = key, .number = number };
	numbers->n++;
	return slot;
}

int ag_numbers_grow(struct ag_numbers *numbers, struct ag_mem *mem, uint32_t max)
{
	struct ag_numbers larger;

	if (numbers->max >= max)
		return -1;
	if (ag_numbers_init(&larger, mem, numbers->max > max / 2 ? max : numbers->max * 2) != 0)
		return -1;
	for (size_t i = 0; i < ag_numbers_slots(numbers); i++) {
		const struct ag_number *from = &numbers->slots[i];

		if (from->key != 0)
			*ag_numbers_probe(&larger, from->key) = *from;
	}
	larger.n = numbers->n;
	ag_numbers_release(numbers, mem);
	*numbers = larger;
	return 0;
}
