/* XXH3 hash.  It is not cryptographic: chosen input can make hashes collide. */
#ifndef JTOOL_BASE_HASH_H
#define JTOOL_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

uint64_t hash_bytes(const void *data, size_t len);

#endif
