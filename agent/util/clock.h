/* The agent's clock: CLOCK_MONOTONIC in ns. */
#ifndef JTOOL_AGENT_UTIL_CLOCK_H
#define JTOOL_AGENT_UTIL_CLOCK_H

#include <stdint.h>
#include <time.h>

static inline int64_t ag_now_ns(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_MONOTONIC, &t); /* cannot fail for this clock */
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

#endif
