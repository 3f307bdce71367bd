/* Capability sets of processes, see capabilities(7). */
#ifndef JTOOL_PROC_CAPABILITIES_H
#define JTOOL_PROC_CAPABILITIES_H

#include <stdbool.h>

/* Returns true if the calling thread has the capability (CAP_…, linux/capability.h) in effect. */
bool capabilities_has(int capability);

#endif
