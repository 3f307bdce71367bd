/*
 * A profile for commands to be tested with: sites and figures are what a test says.
 *
 * Site i is of kind i % 2 ("[I", "Lp/A;"), of i + 1 objects of 16 bytes each, one sample, and
 * stands on three frames: p.A.run at 5 + i % 50, a native constructor of p.B, and one that is gone.
 */
#ifndef JTOOL_TESTS_FAKE_PROFILE_H
#define JTOOL_TESTS_FAKE_PROFILE_H

#include "jvm/profile.h"

struct fake_profile {
	uint32_t sites;      /* there are; more may come */
	void (*turn)(void);  /* what happens meanwhile, when its state is asked for or it ticks */
	void (*ending)(void); /* what happens as it ends, when it does not count any more */
	bool live_fails, peek_fails;
	jvmtiError code;     /* of putting classes back */

	/* What came of it */
	struct ag_profile_wanted wanted;
	char globs[100]; /* one behind the other */
	int open;        /* that were not freed */
	bool begun, ended, live;
	unsigned ticks, peeks;
};
extern struct fake_profile fake_profile;

#endif
