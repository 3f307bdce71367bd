/*
 * A stand-in for agent/jvm/alloc/alloc_profile.c: a profile whose sites and values a test sets.
 *
 * Site i has the class "[I" if i is even and "Lp/A;" if i is odd, i + 1 objects of 16 bytes each,
 * and one sample.  Its stack has three frames: p.A.run at bytecode index 5 + i % 50, a native
 * constructor of p.B, and a method that was unloaded.
 */
#ifndef JTOOL_TESTS_FAKE_PROFILE_H
#define JTOOL_TESTS_FAKE_PROFILE_H

#include "jvm/alloc/alloc_profile.h"

struct fake_profile {
	uint32_t sites;      /* the number of sites, which may grow */
	void (*turn)(void);  /* called by each ..._tick() and ..._state() */
	void (*ending)(void); /* called by ag_alloc_profile_end() */
	bool live_fails, peek_fails;
	jvmtiError code;     /* what restoring the classes returns */

	/* What the command has done */
	struct ag_alloc_profile_wanted wanted;
	char globs[100]; /* the globs of `wanted`, concatenated */
	int open;        /* profiles that were not freed */
	bool begun, ended, live;
	unsigned ticks, peeks;
};
extern struct fake_profile fake_profile;

#endif
