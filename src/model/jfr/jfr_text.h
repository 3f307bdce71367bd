/* Formats arguments of the JFR.* diagnostic commands, and interprets their replies. */
#ifndef JTOOL_MODEL_JFR_JFR_TEXT_H
#define JTOOL_MODEL_JFR_JFR_TEXT_H

#include <stdbool.h>

#include "base/buf.h"

/*
 * Appends a space and `word`.  If `word` is KEY=VALUE, quotes a VALUE that has spaces or quotes and
 * is not quoted already.  Returns 0; or -EINVAL if VALUE has both kinds of quotes, because the JVM
 * has no escape sequence for a quote, or if `word` has a line end, which would start a second
 * command.
 */
int jfr_add_word(struct buf *line, const char *word) _must_check_;

/* Returns VALUE if the word is KEY=VALUE, else NULL. */
const char *jfr_value_of(const char *word, const char *key);

enum jfr_verb { JFR_START, JFR_CHECK, JFR_DUMP, JFR_STOP };

/*
 * Returns whether the command has succeeded, by the text of the reply, because the reply's status
 * code is always 0.  Only texts of success are recognised, because those of failure depend on the
 * JDK.
 */
bool jfr_succeeded(enum jfr_verb verb, const char *answer);

/*
 * Appends the reply as one printable line of limited length.  Of repeated lines, only the first is
 * used.
 */
void jfr_one_line(struct buf *out, const char *answer);

#endif
