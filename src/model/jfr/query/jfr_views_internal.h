/* The lists of views that the files jfr_views_*.c define; jfr_view_at() joins them. */
#ifndef JTOOL_MODEL_JFR_QUERY_JFR_VIEWS_INTERNAL_H
#define JTOOL_MODEL_JFR_QUERY_JFR_VIEWS_INTERNAL_H

#include "model/jfr/query/jfr_query.h"

/* Each of these lists ends with NULL. */
extern const struct jfr_query *const jfr_views_app[];
extern const struct jfr_query *const jfr_views_code[];
extern const struct jfr_query *const jfr_views_gc[];
extern const struct jfr_query *const jfr_views_jvm[];
extern const struct jfr_query *const jfr_views_env[];

#endif
