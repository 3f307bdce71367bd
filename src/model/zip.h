/*
 * Zip files as jars are (APPNOTE.TXT, PKWARE), for reading: stored and deflated entries, zip64,
 * a script in front, jars within jars.
 *
 * Read where they stand, in a file or in memory, one entry at a time: a jar may be larger than
 * what a machine has to spare.  Nothing in them is believed: zip_open() walks the directory once,
 * and from then on every entry's numbers are known to lie within the zip, and all entries
 * together to take no more than there is.  So no zip unpacks to more than 1032 times its length,
 * and no entry to more than the directory says, for which the caller has a limit.
 *
 * Names are the directory's, without NUL, but else any bytes, "../" among them: they are nothing
 * to open a file by.
 *
 * What can fail returns NULL when done, else why not, as in "its directory is damaged".
 */
#ifndef JTOOL_MODEL_ZIP_H
#define JTOOL_MODEL_ZIP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"

/* In a file, or, with data, in memory; the caller's, and must outlive the zip. */
struct zip_bytes {
	int fd;
	const void *data;
	uint64_t start, len;
};

struct zip {
	struct zip_bytes bytes;
	uint64_t base;    /* where its offsets count from: not 0 with a script in front */
	uint64_t entries; /* of what stands behind base: what is before the directory */
	struct buf directory;
	struct buf unpacked; /* a jar that was compressed in another */
};

struct zip_entry {
	const char *name; /* in the directory; not NUL-terminated */
	size_t name_len;
	uint64_t offset, packed, size;
	uint32_t crc;
	uint16_t flags, method;
};

/* On failure nothing is to be released. */
const char *zip_open(struct zip *zip, const struct zip_bytes *bytes) _must_check_;
void zip_release(struct zip *zip);

/* A zip that is an entry of another, which must outlive it; compressed: of at most max bytes. */
const char *zip_open_inner(struct zip *zip, const struct zip *outer,
			   const struct zip_entry *entry, uint64_t max) _must_check_;

/* The next entry of the directory; *at is 0 before the first. */
bool zip_next(const struct zip *zip, size_t *at, struct zip_entry *entry);

/* Append an entry's content, of at most max bytes; nothing is appended on failure. */
const char *zip_read(const struct zip *zip, const struct zip_entry *entry, uint64_t max,
		     struct buf *out) _must_check_;

#endif
