/*
 * The JFR.* diagnostic commands as text: a word of the caller's as the JVM's parser wants it, and
 * what an answer means.  Pure.
 */
#ifndef JTOOL_MODEL_JFR_TEXT_H
#define JTOOL_MODEL_JFR_TEXT_H

#include <stdbool.h>

#include "base/buf.h"

/*
 * Append a blank and the word.  A value with blanks or quotes is put in quotes unless it already
 * stands in them.  -EINVAL when it cannot be told to the JVM: it has both kinds of quotes, which
 * the JVM cannot escape, or a line end, behind which a second command would begin.
 */
int jfr_add_word(struct buf *line, const char *word) _must_check_;

/* The value when the word is KEY=VALUE, else NULL. */
const char *jfr_value_of(const char *word, const char *key);

enum jfr_verb { JFR_START, JFR_CHECK, JFR_DUMP, JFR_STOP };

/*
 * Whether the JVM did it.  Its code is 0 in any case, and the reasons why it did not differ by
 * version, so it is known by the few words that say it did.
 */
bool jfr_succeeded(enum jfr_verb verb, const char *answer);

/* The answer on one line: its lines joined, repeated ones once, safe to show, not too long. */
void jfr_one_line(struct buf *out, const char *answer);

#endif
