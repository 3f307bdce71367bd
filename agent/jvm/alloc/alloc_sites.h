/*
 * Allocation sites: a class and the stack that allocates its objects.  Any thread finds sites and
 * adds to their counters, without a lock.  Sites are never removed.
 */
#ifndef JTOOL_AGENT_JVM_ALLOC_ALLOC_SITES_H
#define JTOOL_AGENT_JVM_ALLOC_ALLOC_SITES_H

#include "util/concurrent_table.h"
#include "jvm/alloc/alloc_profile.h"

#define AG_SITE_NONE UINT32_MAX
#define AG_SITES_BITS 22 /* at most 2^22 sites: a site must fit into a tag, see alloc_live.c */

struct ag_sites {
	struct ag_table table;
};

/* Creates the table.  Returns 0, or -1 if the arena has no room. */
int ag_sites_init(struct ag_sites *sites, struct ag_arena *arena);

/* Returns the site of a class and a stack, or AG_SITE_NONE if there is no room for a new site. */
uint32_t ag_sites_find(struct ag_sites *sites, uint32_t kind, const jvmtiFrameInfo *frames,
		       uint32_t n);

/* Adds to the counters of a site.  The unit of objects_256 is 1/256 object. */
void ag_sites_add(struct ag_sites *sites, uint32_t site, uint64_t objects_256, uint64_t bytes,
		  uint64_t samples);
/* Adds to the live counters of a site, which ag_sites_forget_live() resets to 0. */
void ag_sites_add_live(struct ag_sites *sites, uint32_t site, uint64_t objects_256,
		       uint64_t bytes);
void ag_sites_forget_live(struct ag_sites *sites);

static inline uint32_t ag_sites_count(const struct ag_sites *sites)
{
	return ag_table_count(&sites->table);
}

/* Fills in site i for ag_alloc_site(); rounds object counts to whole objects. */
bool ag_sites_get(const struct ag_sites *sites, uint32_t i, struct ag_alloc_site *site);

#endif
