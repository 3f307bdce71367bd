#include "archive/zip.h"

#include <errno.h>
#include <string.h>
#include <zlib.h>

#include "base/xalloc.h"

/* Signatures and fixed lengths (in bytes) of the records of a zip. */
#define LOCAL 0x04034b50u
#define LOCAL_LEN 30
#define CENTRAL 0x02014b50u
#define CENTRAL_LEN 46
#define END 0x06054b50u
#define END_LEN 22
#define END64 0x06064b50u
#define END64_LEN 56
#define LOCATOR64 0x07064b50u
#define LOCATOR64_LEN 20

#define COMMENT_MAX 65535
#define DIRECTORY_MAX (256u << 20) /* longest directory in bytes, for about two million entries */
#define EXTRA_ZIP64 1
#define STORED 0
#define DEFLATED 8
#define ENCRYPTED 1u

/* Inflating a byte of deflated data yields at most this many bytes. */
#define RATIO_MAX 1032

static uint16_t u16(const uint8_t *p)
{
	return (uint16_t)(p[0] | p[1] << 8);
}

static uint32_t u32(const uint8_t *p)
{
	return u16(p) | (uint32_t)u16(p + 2) << 16;
}

static uint64_t u64(const uint8_t *p)
{
	return u32(p) | (uint64_t)u32(p + 4) << 32;
}

/* Returns false if the range is not inside the zip, or if the file has become shorter meanwhile. */
static bool read_at(const struct zip_bytes *bytes, uint64_t at, void *to, size_t len)
{
	uint8_t *out = to;

	if (at > bytes->len || len > bytes->len - at)
		return false;
	at += bytes->start;
	if (bytes->data) {
		memcpy(out, (const uint8_t *)bytes->data + at, len);
		return true;
	}
	while (len > 0) {
		ssize_t n = pread(bytes->fd, out, len, (off_t)at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		out += n;
		at += (uint64_t)n;
		len -= (size_t)n;
	}
	return true;
}

/*
 * Replaces each size or offset that does not fit in 32 bits by its 64-bit value in the zip64 extra
 * field.  Returns false if that field is too short.
 */
static bool read_zip64(struct zip_entry *entry, const uint8_t *extra, size_t len)
{
	uint64_t *const values[] = { &entry->size, &entry->packed, &entry->offset };
	size_t n, left = 0;

	for (; len >= 4; extra += 4 + n, len -= 4 + n) {
		n = u16(extra + 2);
		if (n > len - 4)
			break;
		if (u16(extra) == EXTRA_ZIP64) {
			left = n;
			break;
		}
	}
	for (size_t i = 0; i < ARRAY_SIZE(values); i++) {
		if (*values[i] != UINT32_MAX)
			continue;
		if (left < 8)
			return false;
		*values[i] = u64(extra + 4);
		extra += 8;
		left -= 8;
	}
	return true;
}

/*
 * Reads the directory entry at offset *at, and advances *at.  Returns false at the end of the
 * directory, or if the entry is invalid.
 */
static bool parse_entry(const struct zip *zip, size_t *at, struct zip_entry *entry)
{
	const uint8_t *p = (const uint8_t *)zip->directory.data + *at;
	size_t left = zip->directory.len - *at, extra_len;

	if (left < CENTRAL_LEN || u32(p) != CENTRAL)
		return false;
	*entry = (struct zip_entry){
		.flags = u16(p + 8),
		.method = u16(p + 10),
		.crc = u32(p + 16),
		.packed = u32(p + 20),
		.size = u32(p + 24),
		.name_len = u16(p + 28),
		.offset = u32(p + 42),
		.name = (const char *)p + CENTRAL_LEN,
	};
	extra_len = u16(p + 30);
	left -= CENTRAL_LEN;
	if (left < entry->name_len + extra_len + u16(p + 32) ||
	    memchr(entry->name, '\0', entry->name_len) ||
	    !read_zip64(entry, p + CENTRAL_LEN + entry->name_len, extra_len))
		return false;
	*at += CENTRAL_LEN + entry->name_len + extra_len + u16(p + 32);
	return true;
}

bool zip_next(const struct zip *zip, size_t *at, struct zip_entry *entry)
{
	return parse_entry(zip, at, entry);
}

/*
 * Rejects zip bombs, which have many overlapping entries: the total length of the entries must not
 * exceed the length of the zip before the directory.  Also rejects entries outside of the zip.
 */
static const char *check_directory(const struct zip *zip)
{
	uint64_t left = zip->entries;
	struct zip_entry entry;
	size_t at = 0;

	while (parse_entry(zip, &at, &entry)) {
		uint64_t need = LOCAL_LEN + entry.name_len;

		if (entry.packed > left || need > left - entry.packed)
			return "its entries overlap";
		left -= need + entry.packed;
		if (entry.offset > zip->entries - need - entry.packed)
			return "its directory points outside of it";
	}
	/* Ignore the end record's number of entries, which has 16 bits and overflows at 65536. */
	return at == zip->directory.len ? NULL : "its directory is damaged";
}

/*
 * Reads the end record `p`, which is at offset tail + at of zip->bytes.  Sets *len to the length of
 * the directory, which ends where the record begins.  Sets zip->base to the difference between the
 * directory's real offset and its offset in the record: the length of a script before the zip.
 * Returns false if the record is invalid.
 */
static bool read_end(struct zip *zip, const uint8_t *p, size_t at, uint64_t tail, size_t *len)
{
	uint64_t size = u32(p + 12), offset = u32(p + 16), end = tail + at;
	uint8_t first[4];

	if (at >= LOCATOR64_LEN + END64_LEN && u32(p - LOCATOR64_LEN) == LOCATOR64 &&
	    u32(p - LOCATOR64_LEN - END64_LEN) == END64) {
		p -= LOCATOR64_LEN + END64_LEN;
		end -= LOCATOR64_LEN + END64_LEN;
		size = u64(p + 40);
		offset = u64(p + 48);
	}
	if (size > end || offset > end - size || size > DIRECTORY_MAX)
		return false;
	if (size > 0 && (!read_at(&zip->bytes, end - size, first, 4) || u32(first) != CENTRAL))
		return false;
	zip->base = end - size - offset;
	zip->entries = offset;
	*len = size;
	return true;
}

/*
 * Searches for the end record, from the end of the zip backwards, because a comment with any
 * content may follow the record.
 */
static bool find_end(struct zip *zip, size_t *len)
{
	enum { TAIL = LOCATOR64_LEN + END64_LEN + END_LEN + COMMENT_MAX };
	size_t n = zip->bytes.len < TAIL ? zip->bytes.len : TAIL;
	uint64_t tail = zip->bytes.len - n;
	_cleanup_free_ uint8_t *p = xmalloc(n);

	if (!read_at(&zip->bytes, tail, p, n))
		return false;
	for (size_t at = n < END_LEN ? 0 : n - END_LEN + 1; at-- > 0;) {
		if (u32(p + at) == END && u16(p + at + 20) <= n - at - END_LEN &&
		    read_end(zip, p + at, at, tail, len))
			return true;
	}
	return false;
}

static const char *read_directory(struct zip *zip, size_t len)
{
	if (!read_at(&zip->bytes, zip->base + zip->entries, buf_reserve(&zip->directory, len), len))
		return "it was truncated while it was read";
	zip->directory.len = len;
	return check_directory(zip);
}

const char *zip_open(struct zip *zip, const struct zip_bytes *bytes)
{
	const char *why;
	size_t len;

	*zip = (struct zip){ .bytes = *bytes };
	if (!find_end(zip, &len))
		return "it is not a zip file, or its end is missing";
	why = read_directory(zip, len);
	if (why)
		zip_release(zip);
	return why;
}

void zip_release(struct zip *zip)
{
	buf_release(&zip->directory);
	buf_release(&zip->unpacked);
}

/*
 * Sets *at to the offset in zip->bytes at which the content of the entry begins.  Returns NULL, or
 * the reason why the content cannot be read.
 */
static const char *find_content(const struct zip *zip, const struct zip_entry *entry, uint64_t *at)
{
	uint8_t head[LOCAL_LEN];
	uint64_t skip;

	if (entry->flags & ENCRYPTED)
		return "it is encrypted";
	if (entry->method != STORED && entry->method != DEFLATED)
		return "its compression method is not supported";
	if (entry->method == STORED ? entry->size != entry->packed :
				      entry->size / RATIO_MAX > entry->packed)
		return "its uncompressed size is inconsistent";
	if (!read_at(&zip->bytes, zip->base + entry->offset, head, sizeof(head)) ||
	    u32(head) != LOCAL)
		return "it is not where the directory says";
	/*
	 * Read the local header, because its extra field may differ in length from the extra field
	 * of the entry in the directory.
	 */
	skip = (uint64_t)LOCAL_LEN + u16(head + 26) + u16(head + 28);
	if (skip + entry->packed > zip->entries - entry->offset)
		return "it is not where the directory says";
	*at = zip->base + entry->offset + skip;
	return NULL;
}

static const char *inflate_to(const struct zip *zip, uint64_t at, const struct zip_entry *entry,
			      uint8_t *out)
{
	z_stream z = { .next_out = out, .avail_out = (uInt)entry->size };
	uint64_t left = entry->packed;
	uint8_t in[16384];
	int rc = inflateInit2(&z, -MAX_WBITS);

	if (rc != Z_OK)
		xalloc_die(); /* inflateInit2() fails only when memory is exhausted */
	/*
	 * Stop if inflate() leaves input unread.  The output is full then, so the entry is longer
	 * than its size in the directory.
	 */
	while (rc == Z_OK && z.avail_in == 0 && left > 0) {
		size_t n = left < sizeof(in) ? left : sizeof(in);

		if (!read_at(&zip->bytes, at, in, n))
			break;
		z.next_in = in;
		z.avail_in = (uInt)n;
		at += n;
		left -= n;
		rc = inflate(&z, Z_NO_FLUSH);
	}
	(void)inflateEnd(&z); /* only frees memory */
	return rc == Z_STREAM_END && z.avail_out == 0 ? NULL : "it is damaged";
}

const char *zip_read(const struct zip *zip, const struct zip_entry *entry, uint64_t max,
		     struct buf *out)
{
	const char *why;
	uint8_t *to;
	uint64_t at;

	why = find_content(zip, entry, &at);
	if (why)
		return why;
	if (entry->size > max || entry->size > UINT32_MAX)
		return "it is too large";
	to = (uint8_t *)buf_reserve(out, entry->size);
	if (entry->method == DEFLATED)
		why = inflate_to(zip, at, entry, to);
	else if (!read_at(&zip->bytes, at, to, entry->size))
		why = "it was truncated while it was read";
	if (!why && crc32(0, to, (uInt)entry->size) != entry->crc)
		why = "it is damaged";
	if (!why)
		out->len += entry->size;
	out->data[out->len] = '\0';
	return why;
}

const char *zip_open_inner(struct zip *zip, const struct zip *outer,
			   const struct zip_entry *entry, uint64_t max)
{
	struct zip_bytes bytes = outer->bytes;
	struct buf unpacked = BUF_INIT;
	const char *why;
	uint64_t at;

	why = find_content(outer, entry, &at);
	if (why)
		return why;
	if (entry->method == STORED) {
		bytes.start += at;
		bytes.len = entry->size;
		return zip_open(zip, &bytes);
	}
	why = zip_read(outer, entry, max, &unpacked);
	if (!why) {
		bytes = (struct zip_bytes){ .data = unpacked.data, .len = unpacked.len };
		why = zip_open(zip, &bytes);
	}
	if (why)
		buf_release(&unpacked);
	else
		zip->unpacked = unpacked;
	return why;
}
