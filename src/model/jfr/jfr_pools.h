/*
 * The constants of a chunk.  Each type has a pool, which maps keys to constants.  A constant is an
 * encoded value in a checkpoint event; it is decoded each time it is used.
 */
#ifndef JTOOL_MODEL_JFR_JFR_POOLS_H
#define JTOOL_MODEL_JFR_JFR_POOLS_H

#include "model/jfr/jfr_metadata.h"

struct jfr_pools;

/*
 * Returns empty pools.  `metadata` must outlive them.  If the pools use more than max_bytes of
 * memory, jfr_pools_add() fails.
 */
struct jfr_pools *jfr_pools_new(const struct jfr_metadata *metadata, size_t max_bytes);
void jfr_pools_free(struct jfr_pools *p); /* NULL is allowed */

/*
 * Adds the constants of a checkpoint event.  `c` is the event's payload, after the type id.  The
 * payload is a part of the allocated block `data`.  The pools take ownership of `data`, also after
 * an error.  If a pool has a key already, the function replaces the key's value only if `replaces`
 * is set.
 *
 * Sets *delta to the position of the previous checkpoint event relative to this one, in bytes; 0:
 * there is none.  Returns 0; or -EBADMSG if the event is damaged, or -ENOMEM if the pools exceed
 * their limit: then the constants before the damage, or up to the limit, were added.
 */
int jfr_pools_add(struct jfr_pools *p, struct jfr_cursor *c, uint8_t *data, bool replaces,
		  int64_t *delta) _must_check_;
/* Returns how many bytes of memory the pools use. */
size_t jfr_pools_bytes(const struct jfr_pools *p);

/*
 * Sets *value to the encoded constant with this key in the type's pool.  Returns false if the pool
 * does not have the key.
 */
bool jfr_pools_find(const struct jfr_pools *p, const struct jfr_type *type, int64_t key,
		    struct jfr_cursor *value);

/* Moves `c` past the encoded value of the field `f`. */
void jfr_skip_field(struct jfr_cursor *c, const struct jfr_field *f);

#endif
