/*
 * Globs for names: '*' matches any number of characters, '?' matches one character, and no other
 * character is special.  The agent and the client share this code, so that both select the same
 * names.
 *
 * A text is in UTF-8 or in modified UTF-8, which encodes a character beyond U+FFFF as a surrogate
 * pair (JVMS 4.4.7); such a pair counts as one character.  A byte that is not part of a valid
 * encoding counts as a character by itself.
 */
#ifndef JTOOL_AGENT_WIRE_GLOB_H
#define JTOOL_AGENT_WIRE_GLOB_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Returns true if the glob matches the complete text.  The time is at most proportional to the
 * length of the glob times the length of the text.
 */
bool glob_matches(const char *glob, const char *text);

/*
 * Like glob_matches(), for a text of len bytes that need not be contiguous in memory: byte_at()
 * returns byte i of `text`.
 */
typedef char glob_byte_fn(const void *text, size_t i);
bool glob_matches_bytes(const char *glob, glob_byte_fn *byte_at, const void *text, size_t len);

/* Returns true if the text contains '*' or '?'. */
bool glob_is_pattern(const char *text);

#endif
