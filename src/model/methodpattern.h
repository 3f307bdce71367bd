/*
 * A pattern for methods: 'a.b.C.save*', '*.Shop.<init>', 'a.b.C.m(java.lang.String, int[])'.
 */
#ifndef JTOOL_MODEL_METHODPATTERN_H
#define JTOOL_MODEL_METHODPATTERN_H

#include <stdbool.h>

#include "base/buf.h"
#include "classfile/read.h"

struct methodpattern {
	const char *word; /* the caller's */
	char *class;      /* as typename_matches has it */
	char *name;       /* a glob */
	char *parameters; /* "java.lang.String,int[]", a glob; NULL: any */
};

/*
 * The class and the method are divided by the last dot before a '(', or by '#' or "::".  NULL when
 * done, else why it is none, as in "it names no method".
 */
const char *methodpattern_parse(struct methodpattern *p, const char *word) _must_check_;
void methodpattern_release(struct methodpattern *p);

/*
 * Is this method meant?  A glob means no static initialiser, unless it begins as one does:
 * "<clinit>", "<c*".
 */
bool methodpattern_matches(const struct methodpattern *p, struct cf_text name,
			   struct cf_text descriptor);

/* "java.lang.String,int[]"; what is no descriptor has no parameters. */
void methodpattern_parameters(struct buf *out, struct cf_text descriptor, const char *comma);

#endif
