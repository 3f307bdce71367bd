/* Capability sets of processes, see capabilities(7). */
#ifndef JTOOL_PROC_CAPABILITIES_H
#define JTOOL_PROC_CAPABILITIES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/util.h"

/* Bit n stands for capability number n. */
struct capability_sets {
	uint64_t inheritable, permitted, effective, bounding;
};

/* Returns true if the calling thread has any permitted capability. */
bool capabilities_any(void);

/*
 * Removes what `max` lacks from the bounding set of the calling thread.  Without CAP_SETPCAP it has
 * no effect: no_new_privs(2const) then keeps execve(2) from granting capabilities.
 */
void capabilities_limit_bounding(uint64_t max);

/*
 * Removes what `max` lacks from all sets of the calling thread, and clears its ambient set.
 * Returns 0 or a negative errno.
 */
int capabilities_limit(const struct capability_sets *max) _must_check_;

/* Returns true if the calling thread has the capability (CAP_…, linux/capability.h) in effect. */
bool capabilities_has(int capability);

#endif
