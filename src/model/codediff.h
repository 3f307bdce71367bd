/*
 * The code that a JVM runs compared, method by method, with a class file of the user's.
 */
#ifndef JTOOL_MODEL_CODEDIFF_H
#define JTOOL_MODEL_CODEDIFF_H

#include "model/captured.h"

enum codediff_kind {
	CODEDIFF_CODE,   /* both have it, and its code does another thing */
	CODEDIFF_MEMORY, /* only the JVM has it */
	CODEDIFF_FILE,   /* only the file has it */
};

struct codediff_row {
	enum codediff_kind kind;
	char *method; /* "int f(long, java.lang.String[])"; as javasig_member_name() has it */
};

struct codediff {
	struct codediff_row *rows; /* those that differ: in the file's order, then the JVM's */
	size_t n, cap;
	size_t n_same; /* methods that both have, and that do the same */
};

void codediff_release(struct codediff *diff);

/*
 * Compare, into an empty diff.  The JVM's side is the captured class file, or where its code in
 * memory was told, that: if there is no class file, memory must be told of all methods.  NULL
 * when done, else why one of them cannot be read, as in "the constant pool ends too early".
 */
const char *codediff_compare(struct codediff *diff, const struct captured *running,
			     const struct cf_class *file) _must_check_;

/* "code differs", "only in memory", "only in the file" */
const char *codediff_word(enum codediff_kind kind);

#endif
