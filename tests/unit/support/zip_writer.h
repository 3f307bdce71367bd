/* Writes zip files byte by byte, so that tests can also write malformed ones. */
#ifndef JTOOL_TESTS_ZIP_WRITER_H
#define JTOOL_TESTS_ZIP_WRITER_H

#include <check.h>
#include <stdint.h>
#include <string.h>
#include <zlib.h>

#include "base/buf.h"
#include "base/xalloc.h"

struct zip_writer {
	struct buf zip, directory;
	size_t base; /* length of the data before the archive */
	unsigned n;
};

static void put16(struct buf *b, unsigned v)
{
	const char bytes[2] = { (char)v, (char)(v >> 8) };

	buf_add(b, bytes, 2);
}

static void put32(struct buf *b, uint64_t v)
{
	put16(b, v & 0xffff);
	put16(b, v >> 16 & 0xffff);
}

static inline void put64(struct buf *b, uint64_t v)
{
	put32(b, v);
	put32(b, v >> 32);
}

/* Appends the data in raw deflate format, as zip files contain it. */
static void deflate_to(struct buf *out, const void *data, size_t len)
{
	z_stream z = { .next_in = (uint8_t *)(uintptr_t)data, .avail_in = (uInt)len };
	size_t room;

	ck_assert_int_eq(deflateInit2(&z, 9, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY), Z_OK);
	room = deflateBound(&z, len);
	z.next_out = (uint8_t *)buf_reserve(out, room);
	z.avail_out = (uInt)room;
	ck_assert_int_eq(deflate(&z, Z_FINISH), Z_STREAM_END);
	out->len += z.total_out;
	(void)deflateEnd(&z);
}

/* Adds an entry; the name may have any bytes.  Method: 0 (stored) or 8 (deflated). */
static void zip_add_raw(struct zip_writer *m, const char *name, size_t name_len, unsigned method,
			const void *data, size_t len)
{
	_cleanup_buf_ struct buf packed = BUF_INIT;
	size_t offset = m->zip.len - m->base;
	uint32_t crc = (uint32_t)crc32(0, data, (uInt)len);

	if (method == 8)
		deflate_to(&packed, data, len);
	else
		buf_add(&packed, data, len);
	put32(&m->zip, 0x04034b50);
	put16(&m->zip, 20);
	put16(&m->zip, 8); /* flag: only the directory has the CRC and the sizes */
	put16(&m->zip, method);
	for (int i = 0; i < 4; i++)
		put32(&m->zip, 0);
	put16(&m->zip, (unsigned)name_len);
	put16(&m->zip, 3); /* length of a malformed extra field that the directory omits */
	buf_add(&m->zip, name, name_len);
	buf_add(&m->zip, "???", 3);
	buf_add(&m->zip, packed.data, packed.len);

	put32(&m->directory, 0x02014b50);
	put32(&m->directory, 0x140014);
	put16(&m->directory, 8);
	put16(&m->directory, method);
	put32(&m->directory, 0);
	put32(&m->directory, crc);
	put32(&m->directory, packed.len);
	put32(&m->directory, len);
	put16(&m->directory, (unsigned)name_len);
	for (int i = 0; i < 6; i++)
		put16(&m->directory, 0);
	put32(&m->directory, offset);
	buf_add(&m->directory, name, name_len);
	m->n++;
}

static inline void zip_add(struct zip_writer *m, const char *name, unsigned method,
			   const void *data, size_t len)
{
	zip_add_raw(m, name, strlen(name), method, data, len);
}

/* Writes the end record for a directory of `size` bytes at `offset`. */
static void zip_end_at(struct zip_writer *m, uint64_t size, uint64_t offset)
{
	put32(&m->zip, 0x06054b50);
	put32(&m->zip, 0);
	put16(&m->zip, m->n);
	put16(&m->zip, m->n);
	put32(&m->zip, size);
	put32(&m->zip, offset);
	put16(&m->zip, 0);
}

static inline void zip_end(struct zip_writer *m)
{
	size_t offset = m->zip.len - m->base;

	buf_add(&m->zip, m->directory.data, m->directory.len);
	zip_end_at(m, m->directory.len, offset);
	buf_release(&m->directory);
}

static inline void zip_writer_release(struct zip_writer *m)
{
	buf_release(&m->zip);
	buf_release(&m->directory);
}

#endif
