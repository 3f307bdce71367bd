/*
 * The report that the agent writes when it recorded from the JVM's start (agent/report.h tells
 * the format: text that people read, too), read again.
 */
#ifndef JTOOL_MODEL_ALLOC_REPORT_H
#define JTOOL_MODEL_ALLOC_REPORT_H

#include <stddef.h>

#include "model/alloc.h"

/* Does a file begin as such a report does? */
bool alloc_report_is(const char *text, size_t len);

/*
 * Read it whole, into an empty *a.  0, or -EBADMSG with *line the first that makes no sense, or
 * that is missing: a report has an end, and one without was cut off.
 */
int alloc_report_read(struct alloc *a, const char *text, size_t len, size_t *line) _must_check_;

#endif
