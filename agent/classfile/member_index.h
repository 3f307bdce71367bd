/*
 * Finds the methods of a class by name and descriptor, in a sorted array.  For the client only: use
 * it where every method is looked up, because cf_find_member() walks the list each time.
 */
#ifndef JTOOL_AGENT_CLASSFILE_MEMBER_INDEX_H
#define JTOOL_AGENT_CLASSFILE_MEMBER_INDEX_H

#include "classfile/read.h"

struct cf_indexed {
	struct cf_member member;
	uint32_t number; /* of the member in its list, from 0 on */
};

struct cf_member_index {
	struct cf_indexed *all;
	uint32_t n, max;
	struct ag_mem *mem;
};

/* Creates an index for at most max members.  Returns 0; or -1 if memory is short. */
int cf_member_index_init(struct cf_member_index *index, uint32_t max, struct ag_mem *mem)
	__attribute__((warn_unused_result));
/* Does nothing if *index is all zero. */
void cf_member_index_release(struct cf_member_index *index);

/*
 * Adds the next member of the list.  Its texts must outlive the index.  Does nothing if the member
 * has no name or no descriptor, or if the index is full.
 */
void cf_member_index_add(struct cf_member_index *index, const struct cf_member *member,
			 uint32_t number);
/* Sorts the index.  Must be called after the last cf_member_index_add(), before a look-up. */
void cf_member_index_sort(struct cf_member_index *index);

/* Creates an index of all members in the list.  Returns 0; or -1 if memory is short. */
int cf_member_index_read(struct cf_member_index *index, struct cf_members list, struct ag_mem *mem)
	__attribute__((warn_unused_result));

/* Returns the first member of this name and descriptor, or NULL.  An index of zeros is empty. */
const struct cf_indexed *cf_member_index_find(const struct cf_member_index *index,
					      struct cf_text name, struct cf_text descriptor);

#endif
