/*
 * The constants of a chunk: for each type a pool from keys to encoded values.  Checkpoint events
 * contain them; a value stays encoded until it is used.
 */
#ifndef JTOOL_MODEL_JFR_JFR_POOLS_H
#define JTOOL_MODEL_JFR_JFR_POOLS_H

#include "model/jfr/jfr_metadata.h"

struct jfr_pools;

/* `metadata` must outlive the pools. */
struct jfr_pools *jfr_pools_new(const struct jfr_metadata *metadata);
void jfr_pools_free(struct jfr_pools *p); /* NULL is allowed */

/*
 * Adds the constants of a checkpoint event; `c` is its payload, after the type id, and takes the
 * ownership of `data`, which contains it.  If a key exists already, `replaces` says which value is
 * valid from now on.  *delta is the distance to the previous checkpoint; 0: none.  Returns 0, or
 * -EBADMSG; the constants before the defect are added.
 */
int jfr_pools_add(struct jfr_pools *p, struct jfr_cursor *c, uint8_t *data, bool replaces,
		  int64_t *delta) _must_check_;
/* Returns the memory that the pools use. */
size_t jfr_pools_bytes(const struct jfr_pools *p);

/* Sets *value to the encoded constant.  Returns false if there is none. */
bool jfr_pools_find(const struct jfr_pools *p, const struct jfr_type *type, int64_t key,
		    struct jfr_cursor *value);

/* Skips a value of a field, or of a type. */
void jfr_skip_field(struct jfr_cursor *c, const struct jfr_field *f);

#endif
