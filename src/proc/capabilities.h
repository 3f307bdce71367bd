/* Capability sets of processes, see capabilities(7). */
#ifndef JTOOL_PROC_CAPABILITIES_H
#define JTOOL_PROC_CAPABILITIES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/util.h"

/* Sets of capabilities: bit n stands for the capability with number n. */
struct capability_sets {
	uint64_t inheritable, permitted, effective, bounding;
};

/* Returns true if the calling thread has any permitted capability. */
bool capabilities_any(void);

/*
 * Removes from the calling thread's bounding set the capabilities that are not in `max`.  Has no
 * effect if the thread lacks CAP_SETPCAP: then only PR_SET_NO_NEW_PRIVS(2const) prevents execve(2)
 * from granting capabilities.
 */
void capabilities_limit_bounding(uint64_t max);

/*
 * Removes from each set of the calling thread the capabilities that are not in the same set of
 * `max`, and clears the thread's ambient set.  Returns 0 or a negative errno.
 */
int capabilities_limit(const struct capability_sets *max) _must_check_;

/* Returns true if the capability (CAP_…, linux/capability.h) is effective in the calling thread. */
bool capabilities_has(int capability);

#endif
