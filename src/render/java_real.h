/*
 * Floating-point numbers as Java writes them.
 */
#ifndef JTOOL_RENDER_JAVA_REAL_H
#define JTOOL_RENDER_JAVA_REAL_H

#include <stdbool.h>

#include "base/buf.h"

/*
 * Double.toString() as of JDK 19, or Float.toString(): the fewest digits, but two at least, that
 * mean this number and no other (JDK-4511638: before, some numbers got more of them).
 */
void java_real(struct buf *out, double value, bool is_float);

#endif
