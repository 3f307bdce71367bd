/* Declarations shared by the files of jfr view. */
#ifndef JTOOL_CMD_JFR_JFR_VIEW_H
#define JTOOL_CMD_JFR_JFR_VIEW_H

#include "cmd/jfr/jfr_recording.h"
#include "model/jfr/query/jfr_query.h"
#include "model/jfr/jfr_scan.h"

/* The condition of --filter, such as 'field>value'. */
struct jfr_filter;
/* Returns the condition in `text`; or NULL with err set (EXIT_USAGE) if it is not a condition. */
struct jfr_filter *jfr_filter_parse(const char *text, struct err *err) _must_check_;
void jfr_filter_free(struct jfr_filter *f); /* NULL is allowed */
/*
 * Finds the event type's field that the condition names, and parses the condition's value for it.
 * Returns 0; or -1 with err set (EXIT_USAGE) if the type does not have that field, or if the value
 * does not fit the field.
 */
int jfr_filter_bind(struct jfr_filter *f, const struct jfr_type *type, struct err *err)
	_must_check_;
bool jfr_filter_accepts(const struct jfr_filter *f, const struct jfr_event *e);

/* Each function prints one view.  `name` is an event type. */
int jfr_view_summary(struct jfr_recording *rec, struct err *err) _must_check_;
int jfr_view_events(struct jfr_recording *rec, struct err *err) _must_check_;
int jfr_view_type(struct jfr_recording *rec, const char *name, struct err *err) _must_check_;

int jfr_view_page(struct jfr_recording *rec, struct err *err) _must_check_;
/* Prints the list of views.  The recording is not read. */
int jfr_view_list(struct jfr_recording *rec, struct err *err) _must_check_;
int jfr_view_query(struct jfr_recording *rec, const struct jfr_query *view, struct err *err)
	_must_check_;

#endif
