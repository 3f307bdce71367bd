/*
 * Prints jstat's tables, one line for each sample.  The output is identical to that of jstat in JDK
 * 17 and later.
 */
#ifndef JTOOL_RENDER_VM_JSTAT_H
#define JTOOL_RENDER_VM_JSTAT_H

#include "base/buf.h"
#include "model/vm/jstat.h"
#include "render/json.h"

/* Append the line of headings, or the line of a sample. */
void jstat_heading(struct buf *out, enum jstat_table table);
void jstat_row(struct buf *out, enum jstat_table table, const struct counter_source *r);

/*
 * Appends the line of a sample that jstat_json() has returned.  Returns false if the sample is of
 * another table.
 */
bool jstat_row_of_json(struct buf *out, enum jstat_table table, const struct json *sample);

/*
 * Returns a sample as a JSON object with the columns and decimals of the table; the caller frees
 * it.
 */
struct json *jstat_json(enum jstat_table table, const struct counter_source *r, double timestamp);

#endif
