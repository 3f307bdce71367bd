/*
 * The output of `jtool refpaths`, as text or JSON: for each group of paths, a headline and the
 * shortest path of the group.
 */
#ifndef JTOOL_RENDER_HEAP_REFPATHS_VIEW_H
#define JTOOL_RENDER_HEAP_REFPATHS_VIEW_H

#include <stdio.h>

#include "model/heap/refpaths.h"
#include "render/json.h"

/*
 * Prints the groups, and a line with totals.  `what` names the objects to which the paths lead, for
 * example "instances of a.b.C".
 */
void refpaths_print(const struct heap *h, const struct refpaths *paths, const char *what,
		    FILE *out);

/* Adds the totals and the paths to a JSON object. */
void refpaths_put(struct json *object, const struct heap *h, const struct refpaths *paths);

#endif
