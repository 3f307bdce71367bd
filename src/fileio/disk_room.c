#include "fileio/disk_room.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/statvfs.h>

#define KEEP_PERCENT 5
#define KEEP_MIN (1u << 30)
#define STEP (16u << 20) /* bytes between two looks at the file system */

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
	struct disk_room room = { .fd = fd };
	uint64_t size, free;

	if (measure(fd, &size, &free))
		room.keep = disk_room_keep(size, free);
	return room;
}

int disk_room_take(struct disk_room *room, uint64_t bytes)
{
	uint64_t size, free;

	if (room->keep == 0)
		return 0;
	if (room->checked >= bytes) {
		room->checked -= bytes;
		return 0;
	}
	if (!measure(room->fd, &size, &free))
		return 0;
	if (free < room->keep || free - room->keep < bytes)
		return -DISK_ROOM_FULL;
	free -= room->keep + bytes;
	room->checked = free < STEP ? free : STEP;
	return 0;
}

const char *disk_room_error(int error)
{
	if (error == -DISK_ROOM_FULL)
		return "too little space would stay free on its file system";
	return strerror(-error);
}
