/*
 * For a name that is not there: those that are, and look like it.
 */
#ifndef JTOOL_MODEL_NEAR_H
#define JTOOL_MODEL_NEAR_H

#include "base/buf.h"

struct near {
	const char *wanted;
	struct buf names; /* "A, B, C": safe to show */
	size_t n;
};

#define NEAR_INIT(wanted) { (wanted), BUF_INIT, 0 }

/*
 * Note the name when it holds the wanted one, or begins with most of it, in any case.  The first
 * few are enough.
 */
void near_offer(struct near *near, const char *name);
void near_release(struct near *near);

#endif
