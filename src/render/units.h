/* Human-readable sizes, counts and times. */
#ifndef JTOOL_RENDER_UNITS_H
#define JTOOL_RENDER_UNITS_H

#include <stdint.h>

#include "base/buf.h"

/*
 * Appends a size such as 812 B, 1.50 KiB, 1023 MiB, rounded to three digits; to four if it is 1000
 * to 1023.
 */
void units_bytes(struct buf *out, int64_t bytes);

/* Appends a count such as 812, 1,204, 17,000,000. */
void units_count(struct buf *out, uint64_t n);

/* Appends a duration such as 7s, 5m06s, 3h04m, 1d02h.  It is rounded down. */
void units_seconds(struct buf *out, int64_t s);

/*
 * Appends a duration such as 812 ns, 1.24 us, 31.0 ms, 124 s.  It has three digits and is rounded
 * down.
 */
void units_nanos(struct buf *out, uint64_t ns);
#define UNITS_NANOS_WIDTH 7 /* width of the widest text for less than 10,000 s */

#endif
