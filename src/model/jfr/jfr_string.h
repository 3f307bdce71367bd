/* The strings of a flight recording, in their encodings. */
#ifndef JTOOL_MODEL_JFR_JFR_STRING_H
#define JTOOL_MODEL_JFR_JFR_STRING_H

#include "base/buf.h"
#include "model/jfr/jfr_cursor.h"

enum jfr_encoding {
	JFR_STRING_NULL,
	JFR_STRING_EMPTY,
	JFR_STRING_CONSTANT, /* a key of the pool of strings */
	JFR_STRING_UTF8,
	JFR_STRING_CHARS, /* UTF-16, each unit a number */
	JFR_STRING_LATIN1,
};

struct jfr_string {
	enum jfr_encoding encoding;
	int64_t key; /* JFR_STRING_CONSTANT */
	struct jfr_cursor bytes; /* the encoded text */
};

/* Reads and checks a string; the cursor fails if it is not valid. */
void jfr_string_read(struct jfr_cursor *c, struct jfr_string *s);

/* Appends the text in UTF-8; UTF-8 of the recording is not checked.  Nothing for null. */
void jfr_string_add(struct buf *out, const struct jfr_string *s);

#endif
