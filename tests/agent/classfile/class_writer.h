/* Writes class files in the notation of tests: hexadecimal bytes, 'text' for a Utf8 constant. */
#ifndef JTOOL_TESTS_CLASS_WRITER_H
#define JTOOL_TESTS_CLASS_WRITER_H

#include <check.h>
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"

static inline void put(struct buf *b, unsigned long value, unsigned bytes)
{
	while (bytes-- > 0)
		buf_addc(b, (char)(value >> 8 * bytes));
}

static inline void put_text(struct buf *b, const char *s, size_t len)
{
	put(b, 1, 1);
	put(b, len, 2);
	buf_add(b, s, len);
}

static inline void put_bytes(struct buf *b, const char *s)
{
	while (s && *s) {
		char pair[3] = { s[0], s[1], 0 };

		if (*s == ' ') {
			s++;
		} else if (*s == '\'') {
			const char *end = strchr(s + 1, '\'');

			put_text(b, s + 1, (size_t)(end - s) - 1);
			s = end + 1;
		} else {
			ck_assert(isxdigit((unsigned char)s[0]) && isxdigit((unsigned char)s[1]));
			put(b, strtoul(pair, NULL, 16), 1);
			s += 2;
		}
	}
}

#endif
