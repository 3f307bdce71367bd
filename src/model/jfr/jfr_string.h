/* Reads the strings of a flight recording, which have several encodings. */
#ifndef JTOOL_MODEL_JFR_JFR_STRING_H
#define JTOOL_MODEL_JFR_JFR_STRING_H

#include "base/buf.h"
#include "model/jfr/jfr_cursor.h"

enum jfr_encoding {
	JFR_STRING_NULL,
	JFR_STRING_EMPTY,
	JFR_STRING_CONSTANT, /* the key of a string in the pool of strings */
	JFR_STRING_UTF8,
	JFR_STRING_CHARS, /* UTF-16; each unit is encoded as a number */
	JFR_STRING_LATIN1,
};

struct jfr_string {
	enum jfr_encoding encoding;
	int64_t key; /* for JFR_STRING_CONSTANT */
	struct jfr_cursor bytes; /* the encoded text, for the other encodings */
};

/* Reads and checks a string.  If it is invalid, sets c->failed. */
void jfr_string_read(struct jfr_cursor *c, struct jfr_string *s);

/*
 * Appends the text in UTF-8.  Appends nothing for JFR_STRING_NULL and JFR_STRING_CONSTANT.  Does
 * not check text that is UTF-8 already.
 */
void jfr_string_add(struct buf *out, const struct jfr_string *s);

#endif
