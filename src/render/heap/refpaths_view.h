/* The output of refpaths, as JSON or as text: a headline and the shortest path of each group. */
#ifndef JTOOL_RENDER_HEAP_REFPATHS_VIEW_H
#define JTOOL_RENDER_HEAP_REFPATHS_VIEW_H

#include <stdio.h>

#include "model/heap/refpaths.h"
#include "render/json.h"

/* Prints the groups and a line with totals.  `what` is the subject: "instances of a.b.C". */
void refpaths_print(const struct heap *h, const struct refpaths *paths, const char *what,
		    FILE *out);

/* Adds totals and paths to a JSON object. */
void refpaths_put(struct json *object, const struct heap *h, const struct refpaths *paths);

#endif
