/*
 * The writable mappings of this process that a clone shares with it: a snapshot must not contain
 * them.  Examples are the heap of ZGC and those of -XX:AllocateHeapAt and -XX:AllocateOldGenAt.
 */
#ifndef JTOOL_AGENT_JVM_SNAPSHOT_SHARED_MAPS_H
#define JTOOL_AGENT_JVM_SNAPSHOT_SHARED_MAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define AG_SHARED_MAPS_MAX 2048
#define AG_SHARED_MAPS_BUFFER 16384

/* Too large for a stack. */
struct ag_shared_maps {
	struct ag_shared_range {
		uint64_t from, to;
	} list[AG_SHARED_MAPS_MAX]; /* ascending */
	uint32_t n;
	char buffer[AG_SHARED_MAPS_BUFFER]; /* of the file */
};

/*
 * Reads /proc/self/maps.  Returns 0 or an errno.  If there are more ranges than fit, the last one
 * covers all the others and the gaps between them.  With `but`, also removes the permission to
 * write from each of these mappings, except for the one that begins at `but`.  Makes system calls
 * only: allocates nothing and takes no lock.
 */
int ag_shared_maps_read(struct ag_shared_maps *maps, const void *but);

/* Adds the range of a complete line of that file, without its newline.  Pure. */
void ag_shared_maps_line(struct ag_shared_maps *maps, const char *line, size_t len,
			 const void *but);

/* Returns whether the address is in shared memory. */
bool ag_shared_maps_has(const struct ag_shared_maps *maps, uint64_t address);

#endif
