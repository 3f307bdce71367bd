/*
 * Text from a target, made safe to show: valid UTF-8 passes, control characters and broken
 * sequences become \xNN, so that a name cannot move the cursor or split a line.
 */
#ifndef JTOOL_RENDER_TEXT_H
#define JTOOL_RENDER_TEXT_H

#include "base/buf.h"

void text_printable(struct buf *out, const char *text, size_t len);
/* The same as an allocated string. */
char *text_printable_str(const char *text);

/* Is the sequence at text valid UTF-8 for one character?  Its length, or 0. */
size_t text_utf8_len(const char *text, size_t len);

#endif
