/* Sizes, counts and times in a form for people. */
#ifndef JTOOL_RENDER_UNITS_H
#define JTOOL_RENDER_UNITS_H

#include <stdint.h>

#include "base/buf.h"

/*
 * Appends a size such as 812 B, 1.50 KiB, 1023 MiB.  Rounds the number to three digits, or to four
 * digits if the number is 1000 to 1023.
 */
void units_bytes(struct buf *out, int64_t bytes);

/* Appends a count such as 812, 1,204, 17,000,000. */
void units_count(struct buf *out, uint64_t n);

/* Appends a duration such as 7s, 5m06s, 3h04m, 1d02h, rounded down to the smaller unit shown. */
void units_seconds(struct buf *out, int64_t s);

/*
 * Appends a duration such as 812 ns, 1.24 us, 31.0 ms, 124 s, rounded down to three digits.
 */
void units_nanos(struct buf *out, uint64_t ns);
#define UNITS_NANOS_WIDTH 7 /* cells of the widest text of units_nanos() for less than 10,000 s */

#endif
