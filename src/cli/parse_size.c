#include "cli/parse_size.h"

#include <errno.h>
#include <string.h>

int parse_size(const char *text, uint64_t *bytes)
{
	static const char units[] = "kmgKMG";
	const char *at = text, *unit;
	uint64_t n = 0;

	for (; *at >= '0' && *at <= '9'; at++) {
		if (__builtin_mul_overflow(n, 10, &n) ||
		    __builtin_add_overflow(n, (uint64_t)(*at - '0'), &n))
			return -ERANGE;
	}
	if (at == text)
		return -EINVAL;
	if (*at) {
		unit = strchr(units, *at);
		if (!unit || at[1])
			return -EINVAL;
		if (__builtin_mul_overflow(n, UINT64_C(1) << (10 * ((unit - units) % 3 + 1)), &n))
			return -ERANGE;
	}
	*bytes = n;
	return 0;
}
