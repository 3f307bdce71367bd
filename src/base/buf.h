/*
 * A growing byte buffer.  Its content is always followed by a NUL that does not count, so that
 * text can be read from it as a C string.
 */
#ifndef JTOOL_BASE_BUF_H
#define JTOOL_BASE_BUF_H

#include "base/util.h"

struct buf {
	char *data; /* NULL while nothing was ever added */
	size_t len;
	size_t cap;
};

#define BUF_INIT { NULL, 0, 0 }

void buf_release(struct buf *b);
void buf_reset(struct buf *b); /* empty, but keep the memory */

/* Make room for `room` more bytes and return where they go; the caller then adds to len. */
char *buf_reserve(struct buf *b, size_t room);
void buf_add(struct buf *b, const void *data, size_t len);
void buf_adds(struct buf *b, const char *s);
void buf_addc(struct buf *b, char c);
void buf_addf(struct buf *b, const char *fmt, ...) _printf_(2, 3);

/* The content as a C string that stays the buffer's; "" when nothing was added. */
const char *buf_str(const struct buf *b);

/* Hand the content over as a C string that the caller frees; the buffer is empty then. */
char *buf_take(struct buf *b);

#define _cleanup_buf_ _cleanup_(buf_release)

#endif
