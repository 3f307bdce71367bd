/*
 * Writes and reads tar archives (POSIX ustar), compressed with gzip.  Each file in an archive is a
 * gzip member of its own: if an archive is cut off, the files before the cut can be read.
 */
#ifndef JTOOL_ARCHIVE_TAR_GZ_H
#define JTOOL_ARCHIVE_TAR_GZ_H

#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "base/buf.h"

/*
 * Appends a regular file to the archive in fd.  `name` has at most 99 bytes.  Reads `size` bytes
 * from the beginning of data_fd.  Returns 0 or a negative errno: -EFBIG if `size` is 8 GiB or more,
 * or if `name` is too long; -EBADMSG if data_fd has less than `size` bytes.
 */
int tar_gz_add(int fd, const char *name, time_t modified, int data_fd, uint64_t size) _must_check_;
/* Appends the blocks that mark the end of the archive.  Returns 0 or a negative errno. */
int tar_gz_end(int fd) _must_check_;

/*
 * Reads the first regular file with this name, in any folder of the archive, and appends its
 * content of at most `max` bytes to `out`.  Returns 0 or a negative errno: -ENOENT if the archive
 * has no such file, or was cut off between two earlier files; -EBADMSG if fd is not a compressed
 * tar archive, or if that file or an earlier one is damaged or cut off; -EFBIG if the file is
 * longer than `max` or the archive has more than 64 GiB.
 */
int tar_gz_read(int fd, const char *name, struct buf *out, size_t max) _must_check_;

#define TAR_BLOCK 512

/* A header of the "ustar Interchange Format": POSIX.1-2008, pax. */
struct tar_header {
	char name[100], mode[8], uid[8], gid[8], size[12], mtime[12], checksum[8], type;
	char link[100], magic[6], version[2], user[32], group[32], major[8], minor[8];
	char prefix[155], padding[12];
};
_Static_assert(sizeof(struct tar_header) == TAR_BLOCK, "a block");

/*
 * Returns the checksum of a header: the sum of its bytes, with spaces in the place of the checksum
 * field.
 */
unsigned tar_header_sum(const struct tar_header *h);

#endif
