/* The views of a recording, with the names that the JDK's `jfr view` has. */
#ifndef JTOOL_MODEL_JFR_QUERY_JFR_VIEWS_H
#define JTOOL_MODEL_JFR_QUERY_JFR_VIEWS_H

#include "model/jfr/query/jfr_query.h"

/* Returns view number i of all, or NULL after the last. */
const struct jfr_query *jfr_view_at(size_t i);
/* Finds a view by one of its names.  Returns NULL if there is none. */
const struct jfr_query *jfr_view_find(const char *name);

#endif
