/* The views of a recording; their names are those of the JDK's `jfr view`. */
#ifndef JTOOL_MODEL_JFR_QUERY_JFR_VIEWS_H
#define JTOOL_MODEL_JFR_QUERY_JFR_VIEWS_H

#include "model/jfr/query/jfr_query.h"

/* Returns view number i, counted from 0, in the list of all views; NULL if the list is shorter. */
const struct jfr_query *jfr_view_at(size_t i);
/* Returns the view whose member `name` or `other_name` equals `name`; NULL if there is none. */
const struct jfr_query *jfr_view_find(const char *name);

#endif
