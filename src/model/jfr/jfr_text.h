/* Formats arguments of the JFR.* diagnostic commands, and interprets their replies. */
#ifndef JTOOL_MODEL_JFR_JFR_TEXT_H
#define JTOOL_MODEL_JFR_JFR_TEXT_H

#include <stdbool.h>

#include "base/buf.h"

/*
 * Appends a space and `word`.  If `word` is KEY=VALUE, and VALUE has spaces or quotes but is not
 * quoted already, quotes VALUE.  Returns 0; or -EINVAL in one of these cases:
 * - VALUE has both kinds of quotes, because the JVM has no escape sequence for a quote;
 * - VALUE must be quoted and ends with a backslash, which would escape the closing quote;
 * - `word` has a line end, which would begin a second command.
 */
int jfr_add_word(struct buf *line, const char *word) _must_check_;

/* Returns the address of VALUE in `word` if `word` is KEY=VALUE with this key; else NULL. */
const char *jfr_value_of(const char *word, const char *key);

enum jfr_verb { JFR_START, JFR_CHECK, JFR_DUMP, JFR_STOP };

/*
 * Returns true if the reply says that the command has succeeded.  Judges by the text of the reply,
 * because its status code is always 0.  Every text that does not report success counts as a
 * failure, because the texts that report a failure depend on the JDK.
 */
bool jfr_succeeded(enum jfr_verb verb, const char *answer);

/*
 * Appends the reply as one printable line of limited length.  Omits each line of the reply that
 * equals the line before it.
 */
void jfr_one_line(struct buf *out, const char *answer);

#endif
