/* Reads reports of agents that record from the JVM's start (format: agent/startup/report.h). */
#ifndef JTOOL_MODEL_PROFILE_ALLOC_REPORT_H
#define JTOOL_MODEL_PROFILE_ALLOC_REPORT_H

#include <stddef.h>

#include "model/profile/alloc.h"

/* Returns whether a file starts like a report. */
bool alloc_report_is(const char *text, size_t len);

/*
 * Reads a complete report into an empty *a.  Returns 0, or -EBADMSG with *line set to the number of
 * the first line that is invalid, or missing because the report was truncated.
 */
int alloc_report_read(struct alloc *a, const char *text, size_t len, size_t *line) _must_check_;

#endif
