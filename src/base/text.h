/*
 * Text from a target, made safe to show: valid UTF-8 passes, control characters (those of
 * Unicode and of the reading direction, too) and broken sequences become \xNN, so that a name
 * cannot move the cursor, split a line or hide what it is.
 */
#ifndef JTOOL_BASE_TEXT_H
#define JTOOL_BASE_TEXT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"

void text_printable(struct buf *out, const char *text, size_t len);
/* The same as an allocated string. */
char *text_printable_str(const char *text);

/* How many cells of a terminal printable text takes: 2 for wide, 0 for combining characters. */
size_t text_width(const char *text, size_t len);

/* Is the sequence at text valid UTF-8 for one character?  Its length, or 0. */
size_t text_utf8_len(const char *text, size_t len);

/* Add a character as UTF-8; half of a pair of UTF-16 is none, and becomes U+FFFD. */
void text_add_char(struct buf *out, uint32_t c);
/* Add UTF-16 as UTF-8. */
void text_add_utf16(struct buf *out, const uint8_t *data, size_t len, bool big_endian);

#endif
