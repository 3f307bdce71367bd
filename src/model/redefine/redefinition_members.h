/* The fields, methods or record components of two classes, matched by name and descriptor. */
#ifndef JTOOL_MODEL_REDEFINE_REDEFINITION_MEMBERS_H
#define JTOOL_MODEL_REDEFINE_REDEFINITION_MEMBERS_H

#include "base/buf.h"
#include "classfile/read.h"

struct compared_member {
	struct cf_member cf;
	unsigned access; /* the modifiers that the JVM compares */
	bool handled;    /* the other class has this member too, or a message names this member */
};

struct members {
	struct compared_member *all;     /* the members, in class file order */
	/* pointers to the members, sorted by name, then descriptor */
	struct compared_member **sorted;
	size_t n;
};

/* Reads a list of members.  Their texts point into the class file, which must outlive the list. */
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

/* Returns the member with the name and descriptor of `like`, or NULL. */
struct compared_member *members_find(const struct members *m, const struct compared_member *like);
/*
 * Returns a member that has this name, with any descriptor, and is not `handled` yet; or NULL.
 */
struct compared_member *members_find_name(const struct members *m, struct cf_text name);
/* Sets `handled` of each member that is in both classes. */
void members_match(struct members *running, struct members *new);

/* Appends the noun and the member, for example "method int f(long)". */
void members_add(struct buf *line, const char *noun, const struct compared_member *member);
/* If the member is generated, appends a text such as " (javac adds it …)". */
void members_add_generated(struct buf *line, const struct compared_member *member);

#endif
