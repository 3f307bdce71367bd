/* Suggests existing names that are similar to an unknown one. */
#ifndef JTOOL_BASE_SUGGEST_H
#define JTOOL_BASE_SUGGEST_H

#include "base/buf.h"

struct suggestions {
	const char *wanted; /* the unknown name */
	struct buf names;   /* the added names, as "A, B, C"; safe to print */
	size_t n;           /* number of added names; at most 5 are added */
	struct buf hint;
};

#define SUGGEST_INIT(wanted)                    \
	{                                       \
		(wanted), BUF_INIT, 0, BUF_INIT \
	}

/*
 * Adds the name if it contains s->wanted, or begins with the first 3/4 of s->wanted.  Ignores case.
 */
void suggest_offer(struct suggestions *s, const char *name);
/* Adds the name, even if it is not similar to s->wanted. */
void suggest_add(struct suggestions *s, const char *name);

/*
 * Adds the most similar of the n class names that name(list, i) returns, but no array classes.
 * Names that differ from s->wanted only in the package are first, then names that differ by typos,
 * then names that contain s->wanted or its simple name.
 */
void suggest_offer_classes(struct suggestions *s,
			   const char *(*name)(const void *list, size_t i), const void *list,
			   size_t n);

/*
 * Returns ": did you mean A, B?"; or, if no name was added, a text that says how to list all names.
 * The text is valid until the next call.
 */
const char *suggest_hint(struct suggestions *s);
void suggest_release(struct suggestions *s);

/* Returns the edit distance (a transposition counts 1); 64 if a name has more than 63 bytes. */
#define SUGGEST_LEN_MAX 63
unsigned suggest_distance(const char *a, const char *b);

#endif
