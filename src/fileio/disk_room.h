/*
 * Limits how much of a target's data is written to a file system.
 *
 * A target can send any amount of data.  Writing stops where less would stay free than 5 % of the
 * file system or 1 GB, whichever is more; but if less is free at the start, half of that may be
 * used.  Blocks reserved for root count as used.
 *
 * A file in memory counts as jtool's memory instead.
 */
#ifndef JTOOL_FILEIO_DISK_ROOM_H
#define JTOOL_FILEIO_DISK_ROOM_H

#include <stdbool.h>
#include <stdint.h>

#include "base/util.h"

/* The error if too little space would stay free.  No system call of jtool returns it. */
#define DISK_ROOM_FULL EXFULL
#define DISK_ROOM_MEMORY ENOANO /* likewise, for a file in memory */

struct disk_room {
	int fd;
	bool is_memory;
	uint64_t keep;    /* bytes to leave free; 0: no limit, for example in a pipe */
	uint64_t checked; /* bytes that may be written before the next look */
};

/* Returns the bytes to leave free on a file system of this size with this much free space. */
uint64_t disk_room_keep(uint64_t size, uint64_t free);

/* Returns whether the file is on a file system in memory. */
bool disk_room_is_memory(int fd);
/* Sets the function that returns how much memory jtool may take; without it, there is no limit. */
void disk_room_set_memory(int64_t (*left)(void));

/* For data in jtool's own memory; the first bytes are not checked. */
#define DISK_ROOM_OF_MEMORY { .fd = -1, .is_memory = true, .checked = 1u << 20 }

/* `fd` is the file that will be written. */
struct disk_room disk_room_begin(int fd);
/* Call before `bytes` are written.  Returns 0, -DISK_ROOM_FULL or -DISK_ROOM_MEMORY. */
int disk_room_take(struct disk_room *room, uint64_t bytes) _must_check_;

/* Returns a text for a negative errno, or for one of the above. */
const char *disk_room_error(int error);

#endif
