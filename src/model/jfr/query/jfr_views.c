#include "model/jfr/query/jfr_views.h"

#include <string.h>

#include "base/util.h"
#include "model/jfr/query/jfr_views_internal.h"

const struct jfr_query *jfr_view_at(size_t i)
{
	const struct jfr_query *const *const lists[] = {
		jfr_views_app, jfr_views_code, jfr_views_gc, jfr_views_jvm, jfr_views_env,
	};

	for (size_t j = 0; j < ARRAY_SIZE(lists); j++) {
		size_t n = 0;

		while (lists[j][n])
			n++;
		if (i < n)
			return lists[j][i];
		i -= n;
	}
	return NULL;
}

const struct jfr_query *jfr_view_find(const char *name)
{
	const struct jfr_query *view;

	for (size_t i = 0; (view = jfr_view_at(i)); i++) {
		if (strcmp(view->name, name) == 0 ||
		    (view->other_name && strcmp(view->other_name, name) == 0))
			return view;
	}
	return NULL;
}
