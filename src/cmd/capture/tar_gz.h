/*
 * Writes a tar archive (POSIX ustar), compressed with gzip.  Each file of the archive is a gzip
 * member of its own, so a truncated archive is valid up to the last complete file.
 */
#ifndef JTOOL_CMD_CAPTURE_TAR_GZ_H
#define JTOOL_CMD_CAPTURE_TAR_GZ_H

#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "base/util.h"

/*
 * Appends a regular file to the archive in fd: `name` of at most 99 bytes, with `size` bytes that
 * are read from data_fd at its beginning.  Returns 0 or a negative errno: -EFBIG for 8 GiB or more,
 * -EBADMSG if data_fd has less than `size` bytes.
 */
int tar_gz_add(int fd, const char *name, time_t modified, int data_fd, uint64_t size) _must_check_;
/* Appends the end of the archive. */
int tar_gz_end(int fd) _must_check_;

#endif
