/* FNV-1a, 64 bits: detects changed bytes.  Not resistant to deliberate collisions. */
#ifndef JTOOL_AGENT_UTIL_HASH_H
#define JTOOL_AGENT_UTIL_HASH_H

#include <stddef.h>
#include <stdint.h>

static inline uint64_t ag_hash(const void *data, size_t len)
{
	const uint8_t *bytes = data;
	uint64_t hash = UINT64_C(0xcbf29ce484222325);

	for (size_t i = 0; i < len; i++)
		hash = (hash ^ bytes[i]) * UINT64_C(0x100000001b3);
	return hash;
}

#endif
