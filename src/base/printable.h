/*
 * Makes text from a target safe to print.  Control characters (including those of Unicode that
 * split lines, change the reading direction or are invisible) and invalid UTF-8 become \xNN, so
 * that a name cannot move the cursor, split a line or disguise itself.
 */
#ifndef JTOOL_BASE_PRINTABLE_H
#define JTOOL_BASE_PRINTABLE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"

/* Appends the text in safe form. */
void printable_add(struct buf *out, const char *text, size_t len);
/* Appends a text of several lines in safe form; its line feeds and tabs are unchanged. */
void printable_add_lines(struct buf *out, const char *text, size_t len);
/* Returns the text in safe form.  The caller frees it. */
char *printable_add_str(const char *text);

/* Returns true for a character that printable_add() escapes. */
bool printable_is_unsafe(uint32_t c);

/*
 * Returns the width of printable text in terminal cells.  Wide characters take 2, combining ones 0.
 */
size_t printable_width(const char *text, size_t len);

/* Returns how many bytes of printable text fit into `width` cells; never cuts a character. */
size_t printable_fit(const char *text, size_t len, size_t width);

/* Returns the length in bytes of the UTF-8 character at `text`; 0: invalid. */
size_t utf8_sequence_len(const char *text, size_t len);

/* Returns the code point of the valid UTF-8 sequence of n bytes at `text`. */
uint32_t utf8_decode(const char *text, size_t n);

/* Appends a character as UTF-8; a surrogate becomes U+FFFD. */
void utf8_add_char(struct buf *out, uint32_t c);
/* Appends UTF-16 as UTF-8.  `len` is in bytes. */
void utf8_add_utf16(struct buf *out, const uint8_t *data, size_t len, bool big_endian);

#endif
