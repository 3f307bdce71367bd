/*
 * Telling the client where classes come from.  A loader, a module or a code source that is met
 * for the first time goes out as a frame of its own, and by its number from then on.
 */
#ifndef JTOOL_AGENT_CMD_PLACES_H
#define JTOOL_AGENT_CMD_PLACES_H

#include "base/chan.h"
#include "jvm/classes.h"
#include "jvm/source.h"

struct ag_places {
	struct ag_jvm *jvm;
	struct ag_chan *chan;
	/* Who keeps the numbers; modules and sources may be NULL: they are not told then. */
	struct ag_ids *loaders, *modules, *sources;
	struct ag_source source; /* with sources: initialised */
};

struct ag_where {
	uint32_t loader, module, source; /* by the client's numbers */
};

/* Find out where a class comes from, and tell what is new of it.  Leaves no reference but those
 * of the numbers, which are the local frame's that is open. */
int ag_places_find(struct ag_places *places, jclass class, struct ag_where *where);

#endif
