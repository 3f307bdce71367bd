/* Floating-point numbers in Java's notation. */
#ifndef JTOOL_RENDER_JAVA_DOUBLE_H
#define JTOOL_RENDER_JAVA_DOUBLE_H

#include <stdbool.h>

#include "base/buf.h"

/*
 * Appends what Double.toString() or Float.toString() returns since JDK 19: the fewest digits that
 * identify the number, but at least two (JDK-4511638: older versions print more for some numbers).
 */
void java_double(struct buf *out, double value, bool is_float);

#endif
