/* Deadlines on the monotonic clock (CLOCK_MONOTONIC). */
#ifndef JTOOL_BASE_DEADLINE_H
#define JTOOL_BASE_DEADLINE_H

#include <stdbool.h>
#include <stdint.h>

struct deadline {
	int64_t at_ns; /* on the clock of monotonic_ns() */
};
#define DEADLINE_NEVER ((struct deadline){ INT64_MAX })

int64_t monotonic_ns(void);
struct deadline deadline_in_ms(unsigned ms);
/* Returns the milliseconds left, rounded up; 0 after the deadline. */
int deadline_left_ms(struct deadline d);
bool deadline_passed(struct deadline d);

#endif
