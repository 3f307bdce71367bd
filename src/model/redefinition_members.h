/*
 * The fields, methods or record components of a class, to be found again in another's.
 */
#ifndef JTOOL_MODEL_REDEFINITION_MEMBERS_H
#define JTOOL_MODEL_REDEFINITION_MEMBERS_H

#include "base/buf.h"
#include "classfile/read.h"

struct member {
	struct cf_member cf;
	unsigned access; /* as the JVM compares it */
	bool told;       /* it has its counterpart, or was spoken of */
};

struct members {
	struct member *all;     /* as the class file lists them */
	struct member **sorted; /* by name, then descriptor */
	size_t n;
};

/* Its texts point into the class file. */
struct members members_read(struct cf_members list,
			    unsigned (*access)(const struct cf_class *class,
					       const struct cf_member *member),
			    const struct cf_class *class);
/* When all is filled in by hand. */
void members_sort(struct members *m);
void members_release(struct members *m);
#define _cleanup_members_ _cleanup_(members_release)

int members_text_compare(struct cf_text a, struct cf_text b);
/* By name, then descriptor, for qsort(). */
int members_compare(const void *a, const void *b);

/* The one of the same name and descriptor, or NULL. */
struct member *members_find(const struct members *m, const struct member *like);
/* One of this name that was not spoken of: its descriptor may have changed. */
struct member *members_find_name(const struct members *m, struct cf_text name);
/* Mark as told what stands in both classes. */
void members_match(struct members *running, struct members *new);

/* "method int f(long)" */
void members_add(struct buf *line, const char *noun, const struct member *member);
/* " (javac adds it …)", of one that nobody wrote. */
void members_add_made(struct buf *line, const struct member *member);

#endif
