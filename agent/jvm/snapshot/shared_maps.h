/*
 * The writable shared mappings of this process.  A clone shares them with the process instead of
 * copying them, so objects in them would change during a snapshot.  Examples are the heap of ZGC,
 * a heap that is in a file (-XX:AllocateHeapAt), and an old generation that is in a file
 * (-XX:AllocateOldGenAt).
 */
#ifndef JTOOL_AGENT_JVM_SNAPSHOT_SHARED_MAPS_H
#define JTOOL_AGENT_JVM_SNAPSHOT_SHARED_MAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define AG_SHARED_MAPS_MAX 2048
#define AG_SHARED_MAPS_BUFFER 16384

/* This struct has 48 KiB: allocate it, because it is too large for a stack. */
struct ag_shared_maps {
	struct ag_shared_range {
		uint64_t from, to;
	} list[AG_SHARED_MAPS_MAX]; /* in ascending order of addresses */
	uint32_t n;
	int error; /* errno of a mapping that could not be made read-only; 0: none */
	/* a part of /proc/self/maps; aligned because confine.c reads directory entries into it */
	_Alignas(8) char buffer[AG_SHARED_MAPS_BUFFER];
};

/*
 * Stores in maps->list the ranges of the writable shared mappings that /proc/self/maps lists.  If
 * there are more than AG_SHARED_MAPS_MAX ranges, the last range in the list covers all further
 * ranges and the gaps between them.  If `but` is not NULL, omits the mapping that begins at `but`,
 * and makes each of the other mappings read-only.  Returns 0 or an errno.  Makes system calls only:
 * allocates nothing and takes no lock.
 */
int ag_shared_maps_read(struct ag_shared_maps *maps, const void *but);

/*
 * Handles one line of /proc/self/maps, without its newline: if the line's mapping is writable and
 * shared, adds the mapping's range.  `but` means the same as in ag_shared_maps_read(); if `but` is
 * NULL, the function makes no system call.
 */
void ag_shared_maps_line(struct ag_shared_maps *maps, const char *line, size_t len,
			 const void *but);

/* Returns true if the address is in one of the ranges in maps->list. */
bool ag_shared_maps_has(const struct ag_shared_maps *maps, uint64_t address);

#endif
