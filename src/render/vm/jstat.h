/*
 * Prints the tables of jstat, one line for each sample.  The output is identical to the output of
 * jstat in JDK 17 and later.
 */
#ifndef JTOOL_RENDER_VM_JSTAT_H
#define JTOOL_RENDER_VM_JSTAT_H

#include "base/buf.h"
#include "model/vm/jstat.h"
#include "render/json.h"

/* jstat_heading() appends a line with the headings, jstat_row() a line with a sample from `r`. */
void jstat_heading(struct buf *out, enum jstat_table table);
void jstat_row(struct buf *out, enum jstat_table table, const struct counter_source *r);

/*
 * Like jstat_row(), but for a sample in the form that jstat_json() returns.  Returns false if the
 * sample is not of this table.
 */
bool jstat_row_of_json(struct buf *out, enum jstat_table table, const struct json *sample);

/*
 * Returns a sample as a JSON object.  Its members are the columns of the table; numbers have the
 * decimals that they have in the table.  The caller frees the object.
 */
struct json *jstat_json(enum jstat_table table, const struct counter_source *r, double timestamp);

#endif
