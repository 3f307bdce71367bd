/*
 * refpaths as people read it: a headline a group of ways, and under it the shortest of them, a
 * line an object: how it is held, and what it is.
 */
#ifndef JTOOL_RENDER_REFPATHS_TEXT_H
#define JTOOL_RENDER_REFPATHS_TEXT_H

#include <stdio.h>

#include "model/refpath.h"
#include "model/refpaths.h"

/* what: "instances of a.b.C", for the last line, which has the totals. */
void refpaths_print(const struct heap *h, const struct refpaths *paths, const char *what,
		    FILE *out);

/* "static a.b.C.FIELD", "a local variable of a.b.C.run in thread "main"". */
void refpath_headline(const struct heap *h, const struct refpath *path, bool threads_differ,
		      struct buf *text);
/*
 * The lines of one way, each behind `indent`; of a longer one the middle is left out.  stretches,
 * or NULL: of the group that it stands for.
 */
void refpath_print(const struct heap *h, const struct refpath *path,
		   const struct refpaths_stretch *stretches, const char *indent, FILE *out);

#endif
