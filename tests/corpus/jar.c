#include "corpus/jar.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/xalloc.h"

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

bool jar_open(struct jar *jar, const char *name, const char *path)
{
	FILE *file = fopen(path, "we");

	if (!file)
		return false;
	*jar = (struct jar){ .name = xstrdup(name), .file = file };
	return true;
}

/* The header fields that the entry and the directory share. */
static void put_entry(struct buf *b, const char *entry, const void *data, size_t len)
{
	put16(b, 10);
	put32(b, 0); /* no flags, stored */
	put32(b, 0xee210000); /* 2099-01-01: Clojure uses a source that is newer than its class */
	put32(b, crc32(0, data, (uInt)len));
	put32(b, len);
	put32(b, len);
	put16(b, (unsigned)strlen(entry));
	put16(b, 0);
}

void jar_add(struct jar *jar, const char *entry, const void *data, size_t len)
{
	_cleanup_buf_ struct buf head = BUF_INIT;
	long at = ftell(jar->file);

	put32(&head, 0x04034b50);
	put_entry(&head, entry, data, len);
	buf_adds(&head, entry);
	(void)fwrite(head.data, 1, head.len, jar->file); /* jar_close() asks ferror() */
	(void)fwrite(data, 1, len, jar->file);

	put32(&jar->directory, 0x02014b50);
	put16(&jar->directory, 10);
	put_entry(&jar->directory, entry, data, len);
	for (int i = 0; i < 5; i++)
		put16(&jar->directory, 0);
	put32(&jar->directory, (uint64_t)at);
	buf_adds(&jar->directory, entry);
	jar->n++;
}

bool jar_close(struct jar *jar)
{
	_cleanup_buf_ struct buf end = BUF_INIT;
	long at = ftell(jar->file);
	bool good;

	put32(&end, 0x06054b50);
	put32(&end, 0);
	put16(&end, jar->n);
	put16(&end, jar->n);
	put32(&end, jar->directory.len);
	put32(&end, (uint64_t)at);
	put16(&end, 0);
	(void)fwrite(jar->directory.data, 1, jar->directory.len, jar->file);
	(void)fwrite(end.data, 1, end.len, jar->file);
	good = at >= 0 && (uint64_t)at < UINT32_MAX && jar->n < UINT16_MAX && !ferror(jar->file);
	good = fclose(jar->file) == 0 && good;
	free(jar->name);
	buf_release(&jar->directory);
	return good;
}
