/*
 * A buffer of any length for a JVM's answer.  jtool must read the answer without delay, even if the
 * reader of jtool's output is slow.  The first SPOOL_MEMORY_MAX bytes of the data, or fewer if
 * memory is short, are in memory, and the rest is in an unnamed file.
 */
#ifndef JTOOL_FILEIO_SPOOL_H
#define JTOOL_FILEIO_SPOOL_H

#include <stdint.h>

#include "base/buf.h"
#include "fileio/disk_room.h"

#define SPOOL_MEMORY_MAX (64u * 1024 * 1024)

struct spool {
	struct buf memory; /* the first bytes of the data */
	int file;          /* descriptor of an unnamed file with the remaining bytes; -1: none */
	struct disk_room room, memory_room; /* limits for `file` and for `memory` */
	uint64_t file_len;
};

#define SPOOL_INIT { .memory = BUF_INIT, .file = -1, .memory_room = DISK_ROOM_OF_MEMORY }

/*
 * Appends data.  Returns 0; or a negative error number, to be passed to disk_room_error(), if the
 * file cannot be written or too little space would stay free.
 */
int spool_add(struct spool *s, const void *data, size_t len) _must_check_;
/* Removes the first n bytes, which must be in memory (n <= memory.len). */
void spool_skip(struct spool *s, size_t n);
uint64_t spool_len(const struct spool *s);
/*
 * Copies up to len bytes from position `at` to `data`.  Returns the number of bytes; 0 at the end;
 * or a negative errno.
 */
ssize_t spool_read(const struct spool *s, uint64_t at, void *data, size_t len) _must_check_;
/* Writes all data to a descriptor.  Returns 0 or a negative errno. */
int spool_write(const struct spool *s, int fd) _must_check_;
/*
 * Appends all data to `out`.  Returns 0; -EFBIG if the data has more than max bytes; or another
 * negative errno.
 */
int spool_text(const struct spool *s, struct buf *out, size_t max) _must_check_;
void spool_release(struct spool *s);

#endif
