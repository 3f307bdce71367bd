/*
 * Limits how much of a target's data jtool writes to a file system.
 *
 * A target can send any amount of data.  jtool stops writing before the free space of the file
 * system falls below a reserve.  The reserve is 5 % of the file system or 1 GB, whichever is more,
 * but at most half of the space that is free at the start.  Blocks reserved for root count as used.
 *
 * A file on a file system in memory (tmpfs) is limited by free space and, in addition, by the
 * memory that jtool may take, see disk_room_set_memory().
 */
#ifndef JTOOL_FILEIO_DISK_ROOM_H
#define JTOOL_FILEIO_DISK_ROOM_H

#include <stdbool.h>
#include <stdint.h>

#include "base/util.h"

/*
 * Error numbers.  DISK_ROOM_FULL: too little space of the file system would stay free.
 * DISK_ROOM_MEMORY: too little memory would stay free.  The numbers are those of EXFULL and ENOANO,
 * which no system call of jtool returns.
 */
#define DISK_ROOM_FULL EXFULL
#define DISK_ROOM_MEMORY ENOANO

struct disk_room {
	int fd;
	bool is_memory;
	uint64_t keep;    /* bytes to leave free; 0: no limit, for example in a pipe */
	uint64_t checked; /* bytes that may be written before the free space is measured again */
	uint64_t growth; /* bytes of memory that the JVM may take while jtool writes into memory */
};

/* Returns how many bytes of a file system must stay free; `size` and `free` are in bytes. */
uint64_t disk_room_keep(uint64_t size, uint64_t free);

/* Returns true if the file is on a file system in memory. */
bool disk_room_is_memory(int fd);
/*
 * Sets the function that returns how many bytes of memory jtool may still take.  Without such a
 * function, memory is not limited.
 */
void disk_room_set_memory(int64_t (*left)(void));

/* Initialiser, for data that jtool stores in its own memory.  The first 1 MiB is not checked. */
#define DISK_ROOM_OF_MEMORY { .fd = -1, .is_memory = true, .checked = 1u << 20 }

/* Returns the limit for writing to the open file `fd`, which must stay open. */
struct disk_room disk_room_begin(int fd);
/* Bytes by which a JVM may grow while it dumps its heap; measured: 12.3 MB, for JDK 8's buffers. */
#define JVM_DUMP_GROWTH (16u << 20)

/*
 * Like disk_room_begin(), for a file into which a JVM's heap dump is written.  If the file is on a
 * file system in memory, JVM_DUMP_GROWTH bytes of memory must also stay free, for the JVM.
 */
struct disk_room disk_room_for_dump(int fd);
/*
 * Reserves space: call it before `bytes` are written.  Returns 0, -DISK_ROOM_FULL or
 * -DISK_ROOM_MEMORY.
 */
int disk_room_take(struct disk_room *room, uint64_t bytes) _must_check_;

/* Returns a text for a negative errno, including -DISK_ROOM_FULL and -DISK_ROOM_MEMORY. */
const char *disk_room_error(int error);

#endif
