/* Prints floating-point numbers as Java does. */
#ifndef JTOOL_RENDER_JAVA_DOUBLE_H
#define JTOOL_RENDER_JAVA_DOUBLE_H

#include <stdbool.h>

#include "base/buf.h"

/*
 * Appends the text that Double.toString(), or Float.toString() if `is_float` is true, returns in
 * JDK 19 and later: the fewest digits that identify the number, but at least two.  (Older JDKs
 * print more digits for some numbers, JDK-4511638.)
 */
void java_double(struct buf *out, double value, bool is_float);

#endif
