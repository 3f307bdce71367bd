/* Formats arguments of the JFR.* diagnostic commands, and interprets their replies. */
#ifndef JTOOL_MODEL_JFR_JFR_TEXT_H
#define JTOOL_MODEL_JFR_JFR_TEXT_H

#include <stdbool.h>

#include "base/buf.h"

/*
 * Appends a space and the word.  Quotes a value with spaces or quotes unless it is already quoted.
 * Returns -EINVAL for a value with both kinds of quotes, which the JVM cannot escape, and for a
 * line end, which would start a second command.
 */
int jfr_add_word(struct buf *line, const char *word) _must_check_;

/* Returns VALUE if the word is KEY=VALUE, else NULL. */
const char *jfr_value_of(const char *word, const char *key);

enum jfr_verb { JFR_START, JFR_CHECK, JFR_DUMP, JFR_STOP };

/*
 * Returns whether the command succeeded.  The JVM's code is always 0 and failure texts depend on
 * the version, so the success texts are recognised.
 */
bool jfr_succeeded(enum jfr_verb verb, const char *answer);

/* Appends the reply as one printable line of limited length, without consecutive repeated lines. */
void jfr_one_line(struct buf *out, const char *answer);

#endif
