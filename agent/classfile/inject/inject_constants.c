#include "classfile/inject/inject_constants.h"

#include <string.h>

#include "util/hash.h"

/* Maximum number of added Class constants in `names`.  inj_class() finds only those in `names`. */
#define NEW_NAMES 4096
/*
 * Maximum number of names that inj_class() compares in a hash chain.  If the name has a later place
 * in the chain, inj_class() adds a second Class constant for the same name, which does no harm.
 */
#define CHAIN_MAX 64

static uint16_t *head_of(struct inj_constants *c, struct cf_text name)
{
	return &c->heads[ag_hash(name.data, name.len) % INJ_HEADS];
}

static void add_name(struct inj_constants *c, struct cf_text name, uint16_t index)
{
	uint16_t *head = head_of(c, name);

	if (c->n_names == c->names_max)
		return;
	c->names[c->n_names] = (struct inj_name){ name.data, (uint16_t)name.len, index, *head };
	*head = (uint16_t)c->n_names++;
}

bool inj_constants_open(struct inj_constants *c, const struct cf_pool *pool, struct ag_mem *mem)
{
	uint8_t last;

	*c = (struct inj_constants){ .pool = pool, .added.mem = mem, .count = pool->count };
	c->names_max = pool->count + NEW_NAMES;
	if (c->names_max > UINT16_MAX)
		c->names_max = UINT16_MAX;
	c->names = ag_alloc(mem, c->names_max, sizeof(*c->names));
	if (!c->names)
		return false;
	c->n_names = 1;
	last = cf_tag(pool, (uint16_t)(pool->count - 1));
	if (last == CF_LONG || last == CF_DOUBLE)
		c->count++; /* the constant's second index, which a pool need not have */
	for (uint16_t i = 1; i < pool->count; i++) {
		struct cf_text name = cf_class_name(pool, i);

		if (name.data)
			add_name(c, name, i);
	}
	return true;
}

void inj_constants_release(struct inj_constants *c)
{
	ag_free(c->added.mem, c->names);
	cf_output_release(&c->added);
}

/* Adds a constant and writes its tag.  Returns the constant's index, or 0 if the pool is full. */
static uint16_t add(struct inj_constants *c, enum cf_tag tag)
{
	if (c->count >= UINT16_MAX) {
		c->full = true;
		return 0;
	}
	cf_put_u1(&c->added, (uint8_t)tag);
	return (uint16_t)c->count++;
}

uint16_t inj_utf8(struct inj_constants *c, const char *text, size_t len)
{
	uint16_t index = add(c, CF_UTF8);

	cf_put_u2(&c->added, (uint16_t)len);
	cf_put(&c->added, text, len);
	return index;
}

/* Adds a constant that consists of two indexes, or, for a Class constant, of `first` only. */
static uint16_t add_pair(struct inj_constants *c, enum cf_tag tag, uint16_t first, uint16_t second)
{
	uint16_t index = add(c, tag);

	cf_put_u2(&c->added, first);
	if (tag != CF_CLASS)
		cf_put_u2(&c->added, second);
	return index;
}

uint16_t inj_class(struct inj_constants *c, struct cf_text name)
{
	uint16_t at = *head_of(c, name), index;

	for (int n = 0; at != 0 && n < CHAIN_MAX; n++, at = c->names[at].next) {
		const struct inj_name *known = &c->names[at];

		if (known->len == name.len && memcmp(known->text, name.data, name.len) == 0)
			return known->index;
	}
	index = add_pair(c, CF_CLASS, inj_utf8(c, name.data, name.len), 0);
	if (index != 0)
		add_name(c, name, index);
	return index;
}

uint16_t inj_method(struct inj_constants *c, uint16_t class, const char *name,
		    const char *descriptor)
{
	uint16_t index = inj_utf8(c, name, strlen(name));

	index = add_pair(c, CF_NAME_AND_TYPE, index, inj_utf8(c, descriptor, strlen(descriptor)));
	return add_pair(c, CF_METHOD, class, index);
}

uint16_t inj_hook(struct inj_constants *c, enum inj_hook hook, const char *hooks_class)
{
	/* One array of characters: an array of pointers would need relocations at load time. */
	static const char names[] =
#define HOOK(name, descriptor) #name "\0" descriptor "\0"
#include "classfile/inject/hooks.def"
#undef HOOK
		;
	struct cf_text class = { hooks_class, strlen(hooks_class) };
	const char *name = names;

	if (c->hooks[hook] != 0)
		return c->hooks[hook];
	if (c->hooks_class == 0)
		c->hooks_class = inj_class(c, class);
	for (int i = 0; i < 2 * (int)hook; i++)
		name += strlen(name) + 1;
	c->hooks[hook] = inj_method(c, c->hooks_class, name, name + strlen(name) + 1);
	return c->hooks[hook];
}
