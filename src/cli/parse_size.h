/* Parses sizes: 4096, 512k, 64m, 1g. */
#ifndef JTOOL_CLI_PARSE_SIZE_H
#define JTOOL_CLI_PARSE_SIZE_H

#include <stdint.h>

#include "base/util.h"

/*
 * Parses a size into *bytes.  Units are powers of 1024, in upper or lower case.  Returns 0, -EINVAL
 * or -ERANGE.
 */
int parse_size(const char *text, uint64_t *bytes) _must_check_;

#endif
