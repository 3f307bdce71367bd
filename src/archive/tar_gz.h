/*
 * Writes and reads tar archives (POSIX ustar), compressed with gzip.  Each member is a gzip member
 * of its own, so that a file which ends early is whole up to the last complete one.
 */
#ifndef JTOOL_ARCHIVE_TAR_GZ_H
#define JTOOL_ARCHIVE_TAR_GZ_H

#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "base/buf.h"

/*
 * Appends a regular file to the archive in fd: `name` of at most 99 bytes, with `size` bytes that
 * are read from data_fd at its beginning.  Returns 0 or a negative errno: -EFBIG for 8 GiB or more,
 * -EBADMSG if data_fd has less than `size` bytes.
 */
int tar_gz_add(int fd, const char *name, time_t modified, int data_fd, uint64_t size) _must_check_;
/* Appends the end of the archive. */
int tar_gz_end(int fd) _must_check_;

/*
 * Appends to `out` the regular file of this name, in whatever folder of the archive, of at most
 * `max` bytes.  Returns 0 or a negative errno: -ENOENT if the archive has no such file before its
 * end, -EBADMSG if it is not a compressed tar archive, or ends within the file, -EFBIG if the file
 * is longer or the archive has more than 64 GiB.
 */
int tar_gz_read(int fd, const char *name, struct buf *out, size_t max) _must_check_;

#define TAR_BLOCK 512

/* POSIX.1-2008, pax, "ustar Interchange Format". */
struct tar_header {
	char name[100], mode[8], uid[8], gid[8], size[12], mtime[12], checksum[8], type;
	char link[100], magic[6], version[2], user[32], group[32], major[8], minor[8];
	char prefix[155], padding[12];
};
_Static_assert(sizeof(struct tar_header) == TAR_BLOCK, "a block");

/* Returns the checksum of a header: the sum of its bytes, those of the field itself as blanks. */
unsigned tar_header_sum(const struct tar_header *h);

#endif
