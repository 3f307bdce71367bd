/*
 * What of an allocation profile is shown.
 */
#ifndef JTOOL_RENDER_ALLOC_VIEW_H
#define JTOOL_RENDER_ALLOC_VIEW_H

#include <sys/types.h>

#include "model/alloc.h"

struct alloc_view {
	const struct alloc *alloc;
	const uint32_t *sites;      /* numbers of the sites shown, in order */
	size_t n;
	size_t n_hidden;            /* of sites that are meant, too, but not shown */
	enum alloc_order order;
	struct alloc_total total;   /* of all sites, shown or not */
	uint32_t frames;            /* of a stack, as text; 0: all */
	uint32_t age;               /* collections that what is live has survived */
	pid_t pid;                  /* 0: it is a report's */
	const char *file;           /* NULL: it is a JVM's */
};

static inline bool alloc_view_is_live(const struct alloc_view *view)
{
	return view->alloc->flags & WIRE_ALLOC_LIVE;
}

static inline bool alloc_view_is_exact(const struct alloc_view *view)
{
	return view->alloc->flags & WIRE_ALLOC_EXACT;
}

#endif
