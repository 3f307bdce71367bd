/*
 * Reads the reports of agents that record from the JVM's start on (format: agent/startup/report.h).
 */
#ifndef JTOOL_MODEL_PROFILE_ALLOC_REPORT_H
#define JTOOL_MODEL_PROFILE_ALLOC_REPORT_H

#include <stddef.h>

#include "model/profile/alloc.h"

/* Returns whether a text begins like a report. */
bool alloc_report_is(const char *text, size_t len);

/*
 * Reads a complete report into the empty *a.  Returns 0, or -EBADMSG with *line set to the number
 * of the first line that is invalid, or that is missing because the report is cut off.
 */
int alloc_report_read(struct alloc *a, const char *text, size_t len, size_t *line) _must_check_;

#endif
