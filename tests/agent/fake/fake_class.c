#include "agent/fake/fake_class.h"

#include <string.h>

#include "jvm/instrument/hooks.h"

int ag_hooks_define(struct ag_jvm *jvm)
{
	(void)jvm;
	return 0;
}

const char *ag_hooks_name(void)
{
	return FAKE_HOOKS;
}

bool fake_begins(const struct cf_class *class, const char *with)
{
	return class->len >= strlen(with) && memcmp(class->data, with, strlen(with)) == 0;
}

const char *cf_open(struct cf_class *class, const void *data, size_t len, struct ag_mem *mem)
{
	*class = (struct cf_class){ .data = data, .len = len, .pool = { .mem = mem } };
	class->pool.at = ag_alloc(mem, 10, 4);
	if (!class->pool.at)
		return "no memory";
	if (!fake_begins(class, "torn"))
		return NULL;
	cf_release(class);
	return "the file ends too early";
}

void cf_release(struct cf_class *class)
{
	ag_free(class->pool.mem, class->pool.at);
}
