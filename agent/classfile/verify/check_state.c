#include "classfile/verify/check_state.h"

#include <stdlib.h>

bool chk_wrong(struct check *c, const char *what)
{
	c->fault->name = c->member.name;
	c->fault->descriptor = c->member.descriptor;
	c->fault->pc = UINT32_MAX;
	c->fault->what = what;
	c->fault->format = true;
	return false;
}

bool chk_no_memory(struct check *c)
{
	c->fault->memory = true;
	return chk_wrong(c, "not enough memory to check it");
}

static int compare_keys(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

bool chk_has_duplicate(uint64_t *keys, size_t n)
{
	qsort(keys, n, sizeof(*keys), compare_keys);
	for (size_t i = 1; i < n; i++) {
		if (keys[i] == keys[i - 1])
			return true;
	}
	return false;
}
