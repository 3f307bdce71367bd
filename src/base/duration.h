/*
 * Times as people write them: 10, 2.5s, 500ms, 1m, 1h.
 */
#ifndef JTOOL_BASE_DURATION_H
#define JTOOL_BASE_DURATION_H

#include <stdint.h>

#include "base/util.h"

/*
 * Milliseconds, at most INT_MAX; what is less than one is cut off.  bare_ms: what a number without
 * a unit counts.  0, -EINVAL or -ERANGE.
 */
int duration_parse(const char *text, unsigned bare_ms, unsigned *ms) _must_check_;

/* Nanoseconds; there must be a unit, and there are two smaller ones: 500us, 800ns. */
int duration_parse_ns(const char *text, uint64_t *ns) _must_check_;

#endif
