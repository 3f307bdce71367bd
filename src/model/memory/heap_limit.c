#include "model/memory/heap_limit.h"

#define MB (INT64_C(1) << 20)
#define TRIM_MIN (64 * MB)

struct heap_limit heap_limit_of(const struct memory_parts *parts, int64_t heap_max,
				    int64_t limit)
{
	struct heap_limit result = { .outside = 0 };
	int64_t sum;

	for (int i = 0; i < N_MEMORY_PARTS; i++) {
		if (i != PART_HEAP)
			result.outside += parts->part[i].anonymous;
	}
	if (limit < 0 || heap_max < 0 || __builtin_add_overflow(heap_max, result.outside, &sum))
		return result;
	result.known = true;
	result.excess = sum - limit;
	return result;
}

int64_t memory_trimmable(const struct memory_parts *parts)
{
	int64_t bytes = parts->part[PART_MALLOC_FREE].resident;

	return bytes >= TRIM_MIN ? bytes : 0;
}
