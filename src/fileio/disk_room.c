#include "fileio/disk_room.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>

#define KEEP_PERCENT 5
#define KEEP_MIN (1u << 30)
#define STEP (16u << 20) /* bytes that may be written before the free space is measured again */

/* File systems that keep files in memory, by the f_type of statfs(2). */
#define TMPFS_TYPE 0x01021994
#define RAMFS_TYPE 0x858458f6

static int64_t (*memory_left)(void);

void disk_room_set_memory(int64_t (*left)(void))
{
	memory_left = left;
}

bool disk_room_is_memory(int fd)
{
	struct statfs fs;

	/* Compare 32 bits, because the width and sign of f_type depend on the architecture. */
	return fstatfs(fd, &fs) == 0 &&
	       ((uint32_t)fs.f_type == TMPFS_TYPE || (uint32_t)fs.f_type == RAMFS_TYPE);
}

static bool measure(int fd, uint64_t *size, uint64_t *free)
{
	struct statvfs fs;

	return fstatvfs(fd, &fs) == 0 && fs.f_blocks > 0 &&
	       !__builtin_mul_overflow((uint64_t)fs.f_blocks, fs.f_frsize, size) &&
	       !__builtin_mul_overflow((uint64_t)fs.f_bavail, fs.f_frsize, free);
}

uint64_t disk_room_keep(uint64_t size, uint64_t free)
{
	uint64_t keep = size / 100 * KEEP_PERCENT;

	if (keep < KEEP_MIN)
		keep = KEEP_MIN;
	return keep < free / 2 ? keep : free / 2;
}

struct disk_room disk_room_begin(int fd)
{
	struct disk_room room = { .fd = fd, .is_memory = disk_room_is_memory(fd) };
	uint64_t size, free;

	if (measure(fd, &size, &free))
		room.keep = disk_room_keep(size, free);
	return room;
}

struct disk_room disk_room_for_dump(int fd)
{
	struct disk_room room = disk_room_begin(fd);

	room.growth = JVM_DUMP_GROWTH;
	return room;
}

/* Returns how many bytes may be written now; UINT64_MAX means no limit. */
static uint64_t space_left(const struct disk_room *room)
{
	uint64_t size, free;

	if (room->keep == 0 || !measure(room->fd, &size, &free))
		return UINT64_MAX;
	return free < room->keep ? 0 : free - room->keep;
}

static uint64_t memory_left_for(const struct disk_room *room)
{
	int64_t left = room->is_memory && memory_left ? memory_left() : INT64_MAX;

	if (left == INT64_MAX)
		return UINT64_MAX;
	return left < (int64_t)room->growth ? 0 : (uint64_t)left - room->growth;
}

int disk_room_take(struct disk_room *room, uint64_t bytes)
{
	uint64_t space, memory, left;

	if (room->checked >= bytes) {
		room->checked -= bytes;
		return 0;
	}
	space = space_left(room);
	memory = memory_left_for(room);
	if (space < bytes)
		return -DISK_ROOM_FULL;
	if (memory < bytes)
		return -DISK_ROOM_MEMORY;
	left = (space < memory ? space : memory) - bytes;
	room->checked = left < STEP ? left : STEP;
	return 0;
}

const char *disk_room_error(int error)
{
	if (error == -DISK_ROOM_FULL)
		return "too little space would stay free on its file system";
	if (error == -DISK_ROOM_MEMORY)
		return "it is on a file system in memory, of which too little would stay free for "
		       "the JVM";
	return strerror(-error);
}
