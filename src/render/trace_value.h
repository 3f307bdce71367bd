/*
 * Values of traced calls as text in one line.
 */
#ifndef JTOOL_RENDER_TRACE_VALUE_H
#define JTOOL_RENDER_TRACE_VALUE_H

#include "model/tracevalue.h"

/*
 * 12, 'c', "tea", "long te"..., GREEN, [1, 2, 3, ... 10 in all], a.b.C@1a2b3c,
 * java.io.IOException: message, and ... for what there was no room for.  What would break the line
 * is escaped, in strings also quotes.
 */
void trace_value_add(struct buf *out, const struct tracevalue *value);

/*
 * What an enum's constant, a Throwable or another object is called, not made safe to show: GREEN,
 * "java.io.IOException: message", "a.b.C@1a2b3c".
 */
void trace_value_name(struct buf *out, const struct tracevalue *value);

#endif
