/* Adds constants to a class.  The indexes of the class's own constants do not change. */
#ifndef JTOOL_AGENT_CLASSFILE_INJECT_INJECT_CONSTANTS_H
#define JTOOL_AGENT_CLASSFILE_INJECT_INJECT_CONSTANTS_H

#include "classfile/read.h"
#include "classfile/write.h"

enum inj_hook {
#define HOOK(name, descriptor) INJ_##name,
#include "classfile/inject/hooks.def"
#undef HOOK
	INJ_HOOKS
};

struct inj_name {
	const char *text;
	/*
	 * len: length of `text`.  index: index of the Class constant in the constant pool.  next:
	 * index, in inj_constants.names, of the next name in the hash chain; 0 ends the chain.
	 */
	uint16_t len, index, next;
};

#define INJ_HEADS 1024

struct inj_constants {
	const struct cf_pool *pool;
	struct cf_output added;
	uint32_t count; /* constant_pool_count: the highest index + 1 */
	bool full;      /* a constant could not be added, because the pool is full */
	/* the indexes that these constants got in the pool; 0: not added yet */
	uint16_t hooks_class, hooks[INJ_HOOKS], throwable, maps_name;
	/*
	 * The members below are a hash table that maps class names to Class constants: those of
	 * `pool` and those that were added.
	 */
	struct inj_name *names; /* names[0] is not used */
	uint32_t n_names, names_max;
	uint16_t heads[INJ_HEADS]; /* index in `names` of each hash chain's first name; 0: none */
};

bool inj_constants_open(struct inj_constants *c, const struct cf_pool *pool, struct ag_mem *mem);
void inj_constants_release(struct inj_constants *c);
uint16_t inj_utf8(struct inj_constants *c, const char *text, size_t len);
/*
 * Finds or adds the Class constant for `name`.  Returns the constant's index in the constant pool,
 * or 0 if the pool is full.  The text of `name` must outlive *c.
 */
uint16_t inj_class(struct inj_constants *c, struct cf_text name);
uint16_t inj_method(struct inj_constants *c, uint16_t class, const char *name,
		    const char *descriptor);
uint16_t inj_hook(struct inj_constants *c, enum inj_hook hook, const char *hooks_class);

#endif
