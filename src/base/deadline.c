#include "base/deadline.h"

#include <limits.h>
#include <time.h>

#define NS_PER_MS 1000000LL

int64_t monotonic_ns(void)
{
	struct timespec ts;

	(void)clock_gettime(CLOCK_MONOTONIC, &ts); /* cannot fail with a valid clock */
	return (int64_t)ts.tv_sec * 1000 * NS_PER_MS + ts.tv_nsec;
}

struct deadline deadline_in_ms(unsigned ms)
{
	return (struct deadline){ monotonic_ns() + (int64_t)ms * NS_PER_MS };
}

int deadline_left_ms(struct deadline d)
{
	int64_t left = d.at_ns - monotonic_ns();

	if (left <= 0)
		return 0;
	left = (left + NS_PER_MS - 1) / NS_PER_MS;
	return left > INT_MAX ? INT_MAX : (int)left;
}

bool deadline_passed(struct deadline d)
{
	return deadline_left_ms(d) == 0;
}
