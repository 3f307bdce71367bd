/* Counts a class histogram in a snapshot of the JVM's heap. */
#ifndef JTOOL_CMD_HEAP_SNAPSHOT_HISTO_H
#define JTOOL_CMD_HEAP_SNAPSHOT_HISTO_H

#include "cli/command.h"
#include "model/histo/histo.h"

/*
 * Adds to *h, which must be empty, a row for each class that has reachable objects; the row names
 * the module of the class if with_modules is true.  Sets *pause_ns to the duration of the JVM's
 * pause.  Returns 0, or -1 with err set.  If *h has rows after an error, the rows are complete, and
 * only the end of the session has failed.
 */
int snapshot_histo(const struct ctx *ctx, unsigned max_pause_ms, bool with_modules,
		   struct histo *h, int64_t *pause_ns, struct err *err) _must_check_;

#endif
