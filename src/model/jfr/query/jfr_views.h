/*
 * The views of a recording; their names are those of the JDK's `jfr view`.
 *
 * They are described in the files *.views, which the build compresses into the program: as C
 * constants they would take six times the space.  An empty line ends a view; '#' begins a comment.
 * A line is a keyword and its words:
 *
 *	view NAME                  the first line of each view
 *	other-name NAME
 *	unlisted                   only another view uses it
 *	title TEXT
 *	from EVENT [as ALIAS] [where FIELD = VALUE]
 *	                           a source; the event '*' is every type
 *	group PATH
 *	form
 *	column KEY AGGREGATE PATH [share]
 *	order NUMBER [NUMBER]
 *	limit NUMBER
 *	instead NAME               an earlier view
 *
 * struct jfr_query explains what they mean.  An aggregate is the name of an enum jfr_aggregate in
 * lower case, without JFR_ and _OF.
 */
#ifndef JTOOL_MODEL_JFR_QUERY_JFR_VIEWS_H
#define JTOOL_MODEL_JFR_QUERY_JFR_VIEWS_H

#include "model/jfr/query/jfr_query.h"

/*
 * Reads the views, unless an earlier call has read them; they stay valid until the program ends.
 * Without this call, the list of views is empty.  Returns 0; or -1 with err set (EXIT_PARTIAL) if
 * the executable of jtool is damaged.
 */
int jfr_views_load(struct err *err) _must_check_;
/* Returns view number i, counted from 0, in the list of all views; NULL if the list is shorter. */
const struct jfr_query *jfr_view_at(size_t i);
/* Returns the view whose member `name` or `other_name` equals `name`; NULL if there is none. */
const struct jfr_query *jfr_view_find(const char *name);

#endif
