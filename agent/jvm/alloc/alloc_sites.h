/*
 * An allocation site is a class together with a stack that allocates objects of the class.  Any
 * thread may find a site and add to the site's counters; this takes no lock.  Sites are never
 * removed.
 */
#ifndef JTOOL_AGENT_JVM_ALLOC_ALLOC_SITES_H
#define JTOOL_AGENT_JVM_ALLOC_ALLOC_SITES_H

#include "util/concurrent_table.h"
#include "jvm/alloc/alloc_profile.h"

#define AG_SITE_NONE UINT32_MAX
#define AG_SITES_BITS 22 /* at most 2^22 sites, because a tag has a site number of 22 bits */

struct ag_sites {
	struct ag_table table;
};

/* Creates the table.  Returns 0, or -1 if the arena has no room. */
int ag_sites_init(struct ag_sites *sites, struct ag_arena *arena);

/*
 * Returns the number of the site with this class and stack, and adds the site if it is new; or
 * returns AG_SITE_NONE if there is no room for a new site.
 */
uint32_t ag_sites_find(struct ag_sites *sites, uint32_t kind, const jvmtiFrameInfo *frames,
		       uint32_t n);

/* Adds to the counters of a site.  The unit of objects_256 is 1/256 object. */
void ag_sites_add(struct ag_sites *sites, uint32_t site, uint64_t objects_256, uint64_t bytes,
		  uint64_t samples);
/*
 * ag_sites_add_live() adds to a site's counters of live objects and bytes.  ag_sites_forget_live()
 * resets these counters of all sites to 0.
 */
void ag_sites_add_live(struct ag_sites *sites, uint32_t site, uint64_t objects_256,
		       uint64_t bytes);
void ag_sites_forget_live(struct ag_sites *sites);

static inline uint32_t ag_sites_count(const struct ag_sites *sites)
{
	return ag_table_count(&sites->table);
}

/*
 * Fills in *site from site number i; rounds its object counts to whole objects.  Returns false if
 * there is no site i.
 */
bool ag_sites_get(const struct ag_sites *sites, uint32_t i, struct ag_alloc_site *site);

#endif
