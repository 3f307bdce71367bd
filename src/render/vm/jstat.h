/* jstat's tables, one line a sample; the output is identical to jstat's of JDK 17 and later. */
#ifndef JTOOL_RENDER_VM_JSTAT_H
#define JTOOL_RENDER_VM_JSTAT_H

#include "base/buf.h"
#include "model/vm/jstat.h"
#include "render/json.h"

/* Append the line of headings, or of a sample. */
void jstat_heading(struct buf *out, enum jstat_table table);
void jstat_row(struct buf *out, enum jstat_table table, const struct counter_source *r);

/* The same for a sample of jstat_json().  Returns false if it is of another table. */
bool jstat_row_of_json(struct buf *out, enum jstat_table table, const struct json *sample);

/* Returns a sample as an object with the same columns and decimals; the caller frees it. */
struct json *jstat_json(enum jstat_table table, const struct counter_source *r, double timestamp);

#endif
