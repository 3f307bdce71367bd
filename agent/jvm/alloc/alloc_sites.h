/*
 * Sites: a class and the stack on which its objects were made.  Found and added to by any
 * thread, without a lock; never taken out.
 */
#ifndef JTOOL_AGENT_JVM_PROFILE_SITES_H
#define JTOOL_AGENT_JVM_PROFILE_SITES_H

#include "base/table.h"
#include "jvm/profile.h"

#define AG_SITE_NONE UINT32_MAX
#define AG_SITES_BITS 22 /* so many at most; a tag has room for their number */

struct ag_sites {
	struct ag_table table;
};

/* -1: the arena has no room. */
int ag_sites_init(struct ag_sites *sites, struct ag_arena *arena);

/* The site of a class and a stack; AG_SITE_NONE: there is no room for a new one. */
uint32_t ag_sites_find(struct ag_sites *sites, uint32_t kind, const jvmtiFrameInfo *frames,
		       uint32_t n);

/* What came together at it.  objects_256: in 1/256 of an object. */
void ag_sites_add(struct ag_sites *sites, uint32_t site, uint64_t objects_256, uint64_t bytes,
		  uint64_t samples);
/* The live ones, likewise; ag_sites_forget_live() sets all of these to 0. */
void ag_sites_add_live(struct ag_sites *sites, uint32_t site, uint64_t objects_256,
		       uint64_t bytes);
void ag_sites_forget_live(struct ag_sites *sites);

static inline uint32_t ag_sites_count(const struct ag_sites *sites)
{
	return ag_table_count(&sites->table);
}

/* As ag_profile_site(), objects rounded. */
bool ag_sites_get(const struct ag_sites *sites, uint32_t i, struct ag_profile_site *site);

#endif
