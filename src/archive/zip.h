/*
 * Reader for zip files and jars (APPNOTE.TXT, PKWARE): stored and deflated entries, zip64, a script
 * before the zip, jars within jars.
 *
 * Reads one entry at a time from a file or from memory, because a jar may be larger than the free
 * memory.  Zips are untrusted: zip_open() checks that every entry lies within the zip, and that all
 * entries together are not longer than the zip.  A zip therefore unpacks to at most 1032 times its
 * length.  The unpacked size of an entry is read from the zip's directory; a caller limits that
 * size with `max`.
 *
 * Names of entries come from the directory of the zip.  A name may have any bytes except NUL, and
 * may contain "../": do not open a file by such a name.
 *
 * Functions that return a text return NULL on success, or the reason of a failure, such as "its
 * directory is damaged".
 */
#ifndef JTOOL_ARCHIVE_ZIP_H
#define JTOOL_ARCHIVE_ZIP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"

/*
 * Where the bytes of a zip are: in memory at `data`; or in the file `fd` if `data` is NULL.  The
 * memory or the descriptor must outlive struct zip.
 */
struct zip_bytes {
	int fd;
	const void *data;
	uint64_t start, len;
};

struct zip {
	struct zip_bytes bytes;
	/* length of a script before the zip; must be added to each offset in the directory */
	uint64_t base;
	uint64_t entries; /* bytes from `base` to the directory; every entry is in this range */
	struct buf directory;
	/* the inflated bytes, if this zip is a deflated entry of another zip */
	struct buf unpacked;
};

struct zip_entry {
	const char *name; /* name in the directory; not NUL-terminated */
	size_t name_len;
	uint64_t offset, packed, size;
	uint32_t crc;
	uint16_t flags, method;
};

/* Opens a zip and reads its directory.  After a failure, there is nothing to release. */
const char *zip_open(struct zip *zip, const struct zip_bytes *bytes) _must_check_;
void zip_release(struct zip *zip);

/*
 * Opens a zip that is an entry of the zip `outer`; `outer` must outlive `zip`.  Fails if the entry
 * is deflated and has more than max bytes when it is inflated.
 */
const char *zip_open_inner(struct zip *zip, const struct zip *outer,
			   const struct zip_entry *entry, uint64_t max) _must_check_;

/*
 * Reads the directory entry at offset *at, and advances *at.  *at must be 0 before the first call.
 * Returns false at the end of the directory.
 */
bool zip_next(const struct zip *zip, size_t *at, struct zip_entry *entry);

/*
 * Appends an entry's content to `out`; on failure, appends nothing.  Fails if the content has more
 * than max bytes.
 */
const char *zip_read(const struct zip *zip, const struct zip_entry *entry, uint64_t max,
		     struct buf *out) _must_check_;

#endif
