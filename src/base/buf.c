#include "base/buf.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/xalloc.h"

void buf_release(struct buf *b)
{
	free(b->data);
	*b = (struct buf)BUF_INIT;
}

void buf_reset(struct buf *b)
{
	b->len = 0;
	if (b->data)
		b->data[0] = '\0';
}

char *buf_reserve(struct buf *b, size_t room)
{
	size_t need;

	if (__builtin_add_overflow(b->len, room, &need) || need == SIZE_MAX)
		/* too large, so xreallocarray() below fails and ends the process */
		need = SIZE_MAX;
	else
		need++;
	if (need > b->cap) {
		size_t cap = b->cap ? b->cap : 64;

		while (cap < need)
			cap = cap > SIZE_MAX / 2 ? need : cap * 2;
		b->data = xreallocarray(b->data, cap, 1);
		b->cap = cap;
	}
	b->data[b->len] = '\0';
	return b->data + b->len;
}

void buf_add(struct buf *b, const void *data, size_t len)
{
	char *end = buf_reserve(b, len);

	if (len)
		memcpy(end, data, len);
	b->len += len;
	b->data[b->len] = '\0';
}

void buf_adds(struct buf *b, const char *s)
{
	buf_add(b, s, strlen(s));
}

void buf_addc(struct buf *b, char c)
{
	buf_add(b, &c, 1);
}

void buf_addf(struct buf *b, const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	if (n <= 0)
		return;
	(void)buf_reserve(b, (size_t)n);
	va_start(ap, fmt);
	/* Cannot truncate, because n is the length of the complete text. */
	(void)vsnprintf(b->data + b->len, (size_t)n + 1, fmt, ap);
	va_end(ap);
	b->len += (size_t)n;
}

const char *buf_str(const struct buf *b)
{
	return b->data ? b->data : "";
}

char *buf_take(struct buf *b)
{
	char *s = b->data ? b->data : xstrdup("");

	*b = (struct buf)BUF_INIT;
	return s;
}
