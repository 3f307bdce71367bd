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
	struct buf hint;
};

#define NEAR_INIT(wanted) { (wanted), BUF_INIT, 0, BUF_INIT }

/*
 * Note the name when it holds the wanted one, or begins with most of it, in any case.  The first
 * few are enough.
 */
void near_offer(struct near *near, const char *name);
/* Note the name anyway: the caller has found it near. */
void near_add(struct near *near, const char *name);

/*
 * Note the nearest of the names of classes, arrays apart: those that differ from what is wanted
 * in the package only, then by slips, then those it is a part of.  name(list, i) for i below n.
 */
void near_offer_classes(struct near *near, const char *(*name)(const void *list, size_t i),
			const void *list, size_t n);

/* To say behind "there is no X": ": did you mean A, B?", or how to see all.  The near's. */
const char *near_hint(struct near *near);
void near_release(struct near *near);

/* Edit distance with a swap of neighbours as one step; large for longer names. */
#define NEAR_LEN_MAX 63
unsigned near_distance(const char *a, const char *b);

#endif
