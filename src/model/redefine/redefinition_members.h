/* The fields, methods or record components of two classes, matched by name and descriptor. */
#ifndef JTOOL_MODEL_REDEFINE_REDEFINITION_MEMBERS_H
#define JTOOL_MODEL_REDEFINE_REDEFINITION_MEMBERS_H

#include "base/buf.h"
#include "classfile/read.h"

struct compared_member {
	struct cf_member cf;
	unsigned access; /* the modifiers that the JVM compares */
	bool handled;    /* it has a counterpart in the other class, or a message names it */
};

struct members {
	struct compared_member *all;     /* in class file order */
	struct compared_member **sorted; /* by name, then descriptor */
	size_t n;
};

/* Reads a list of members.  Their texts point into the class file. */
struct members members_read(struct cf_members list,
			    unsigned (*access)(const struct cf_class *class,
					       const struct cf_member *member),
			    const struct cf_class *class);
/* Builds `sorted` from `all`. */
void members_sort(struct members *m);
void members_release(struct members *m);
#define _cleanup_members_ _cleanup_(members_release)

int members_text_compare(struct cf_text a, struct cf_text b);
/* Compares pointers to members by name, then descriptor, for qsort(). */
int members_compare(const void *a, const void *b);

/* Returns the member with the same name and descriptor, or NULL. */
struct compared_member *members_find(const struct members *m, const struct compared_member *like);
/* Returns an unmatched member of this name, whose descriptor may have changed, or NULL. */
struct compared_member *members_find_name(const struct members *m, struct cf_text name);
/* Marks the members that are in both classes as handled. */
void members_match(struct members *running, struct members *new);

/* Appends "method int f(long)". */
void members_add(struct buf *line, const char *noun, const struct compared_member *member);
/* Appends " (javac adds it …)" if the member is a generated one. */
void members_add_generated(struct buf *line, const struct compared_member *member);

#endif
