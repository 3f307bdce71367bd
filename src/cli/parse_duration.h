/* Parses durations: 10, 2.5s, 500ms, 1m, 1h. */
#ifndef JTOOL_CLI_PARSE_DURATION_H
#define JTOOL_CLI_PARSE_DURATION_H

#include <stdint.h>

#include "base/util.h"

/*
 * Parses a duration into *ms, rounded down and at most INT_MAX.  Without a unit, 1 means bare_ms
 * milliseconds.  Returns 0, -EINVAL or -ERANGE.
 */
int parse_duration(const char *text, unsigned bare_ms, unsigned *ms) _must_check_;

/* Parses a duration, also in us or ns, into *ns.  A unit is mandatory.  Returns 0 or -errno. */
int parse_duration_ns(const char *text, uint64_t *ns) _must_check_;

#endif
