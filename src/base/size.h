/*
 * Sizes as people write them: 4096, 512k, 64m, 1g.
 */
#ifndef JTOOL_BASE_SIZE_H
#define JTOOL_BASE_SIZE_H

#include <stdint.h>

#include "base/util.h"

/* Bytes; the units are powers of 1024, in either case.  0, -EINVAL or -ERANGE. */
int size_parse(const char *text, uint64_t *bytes) _must_check_;

#endif
