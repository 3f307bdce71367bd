/*
 * The writable shared mappings of this process.  A clone shares them with the process instead of
 * copying them, so objects in them would change during a snapshot.  Examples are the heap of ZGC
 * and those of -XX:AllocateHeapAt and -XX:AllocateOldGenAt.
 */
#ifndef JTOOL_AGENT_JVM_SNAPSHOT_SHARED_MAPS_H
#define JTOOL_AGENT_JVM_SNAPSHOT_SHARED_MAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define AG_SHARED_MAPS_MAX 2048
#define AG_SHARED_MAPS_BUFFER 16384

/* 48 KiB: allocate it, because it is too large for a stack. */
struct ag_shared_maps {
	struct ag_shared_range {
		uint64_t from, to;
	} list[AG_SHARED_MAPS_MAX]; /* in ascending order of addresses */
	uint32_t n;
	char buffer[AG_SHARED_MAPS_BUFFER]; /* part of /proc/self/maps */
};

/*
 * Reads /proc/self/maps.  Returns 0 or an errno.  If there are more ranges than fit, the last range
 * covers all the others and the gaps between them.  If `but` is not NULL, makes each of these
 * mappings read-only, except for the mapping that begins at `but`.  Makes system calls only:
 * allocates nothing and takes no lock.
 */
int ag_shared_maps_read(struct ag_shared_maps *maps, const void *but);

/*
 * Handles one complete line of /proc/self/maps, without its newline: if the mapping is writable and
 * shared, adds its range.  `but` is as for ag_shared_maps_read(); if it is NULL, makes no system
 * call.
 */
void ag_shared_maps_line(struct ag_shared_maps *maps, const char *line, size_t len,
			 const void *but);

/* Returns true if the address is in one of the ranges. */
bool ag_shared_maps_has(const struct ag_shared_maps *maps, uint64_t address);

#endif
