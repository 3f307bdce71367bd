/* Parses durations: 10, 2.5s, 500ms, 1m, 1h. */
#ifndef JTOOL_CLI_PARSE_DURATION_H
#define JTOOL_CLI_PARSE_DURATION_H

#include <stdint.h>

#include "base/util.h"

/*
 * Parses a duration and stores it in *ms, rounded down to milliseconds.  A number without a unit is
 * in units of bare_ms milliseconds.  Returns 0; -EINVAL; or -ERANGE if *ms would exceed INT_MAX.
 */
int parse_duration(const char *text, unsigned bare_ms, unsigned *ms) _must_check_;

/*
 * Parses a duration into *ns.  The duration must have a unit, which may also be us or ns.  Returns
 * 0, -EINVAL or -ERANGE.
 */
int parse_duration_ns(const char *text, uint64_t *ns) _must_check_;

#endif
