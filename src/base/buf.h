/* A growing byte buffer.  A NUL follows the content; `len` does not count it. */
#ifndef JTOOL_BASE_BUF_H
#define JTOOL_BASE_BUF_H

#include "base/util.h"

struct buf {
	char *data; /* NULL until something is added */
	size_t len;
	size_t cap;
};

#define BUF_INIT { NULL, 0, 0 }

void buf_release(struct buf *b);
void buf_reset(struct buf *b); /* empties the buffer, without freeing its memory */

/*
 * Returns a pointer to the end of the content, where the caller can write up to `room` bytes.  The
 * caller then adds the number of written bytes to b->len.
 */
char *buf_reserve(struct buf *b, size_t room);
void buf_add(struct buf *b, const void *data, size_t len);
void buf_adds(struct buf *b, const char *s);
void buf_addc(struct buf *b, char c);
void buf_addf(struct buf *b, const char *fmt, ...) _printf_(2, 3);

/* Returns the content as a C string, which is valid until the buffer changes. */
const char *buf_str(const struct buf *b);

/* Empties the buffer.  Returns its former content as a C string, which the caller frees. */
char *buf_take(struct buf *b);

#define _cleanup_buf_ _cleanup_(buf_release)

#endif
