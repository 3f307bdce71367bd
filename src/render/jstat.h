/*
 * The tables of jstat, line by line as samples come: to the byte what the jstats of JDK 17 and
 * later print.
 */
#ifndef JTOOL_RENDER_JSTAT_H
#define JTOOL_RENDER_JSTAT_H

#include "base/buf.h"
#include "model/jstat.h"
#include "render/json.h"

/* Both append a line with its newline. */
void jstat_heading(struct buf *out, enum jstat_group group);
void jstat_row(struct buf *out, enum jstat_group group, const struct readings *r);

/* One sample as an object, by the same columns and decimals; the caller's. */
struct json *jstat_json(enum jstat_group group, const struct readings *r, double timestamp);

#endif
