#include "classfile/member_index.h"

#include <stdlib.h>
#include <string.h>

int cf_member_index_init(struct cf_member_index *index, uint32_t max, struct ag_mem *mem)
{
	*index = (struct cf_member_index){ .max = max, .mem = mem };
	index->all = ag_alloc(mem, (size_t)max + 1, sizeof(*index->all));
	return index->all ? 0 : -1;
}

void cf_member_index_release(struct cf_member_index *index)
{
	if (index->all)
		ag_free(index->mem, index->all);
	*index = (struct cf_member_index){ 0 };
}

void cf_member_index_add(struct cf_member_index *index, const struct cf_member *member,
			 uint32_t number)
{
	if (index->n < index->max && member->name.data && member->descriptor.data)
		index->all[index->n++] = (struct cf_indexed){ *member, number };
}

/*
 * Orders texts in any fixed way.  The length comes first, because it is cheap to compare; methods
 * often share the text itself.
 */
static int compare_texts(struct cf_text a, struct cf_text b)
{
	if (a.len != b.len)
		return a.len < b.len ? -1 : 1;
	return a.data == b.data ? 0 : memcmp(a.data, b.data, a.len);
}

static int compare_members(const void *a, const void *b)
{
	const struct cf_member *x = &((const struct cf_indexed *)a)->member;
	const struct cf_member *y = &((const struct cf_indexed *)b)->member;
	int rc = compare_texts(x->name, y->name);

	return rc ? rc : compare_texts(x->descriptor, y->descriptor);
}

static int compare_entries(const void *a, const void *b)
{
	const struct cf_indexed *x = a, *y = b;
	int rc = compare_members(a, b);

	return rc ? rc : (x->number > y->number) - (x->number < y->number);
}

void cf_member_index_sort(struct cf_member_index *index)
{
	uint32_t n = 0;

	qsort(index->all, index->n, sizeof(*index->all), compare_entries);
	/* Of equal members, only the first can be found. */
	for (uint32_t i = 0; i < index->n; i++) {
		if (n == 0 || compare_members(&index->all[n - 1], &index->all[i]) != 0)
			index->all[n++] = index->all[i];
	}
	index->n = n;
}

int cf_member_index_read(struct cf_member_index *index, struct cf_members list, struct ag_mem *mem)
{
	struct cf_member member;

	if (cf_member_index_init(index, list.left, mem) < 0)
		return -1;
	for (uint32_t i = 0; cf_next_member(&list, &member); i++)
		cf_member_index_add(index, &member, i);
	cf_member_index_sort(index);
	return 0;
}

const struct cf_indexed *cf_member_index_find(const struct cf_member_index *index,
					      struct cf_text name, struct cf_text descriptor)
{
	const struct cf_indexed key = { .member = { .name = name, .descriptor = descriptor } };

	if (index->n == 0 || !name.data || !descriptor.data)
		return NULL;
	return bsearch(&key, index->all, index->n, sizeof(key), compare_members);
}
