/* A pattern that matches methods: 'a.b.C.save*', '*.Shop.<init>', 'a.b.C.m(a.b.D, int[])'. */
#ifndef JTOOL_MODEL_CLASS_METHOD_PATTERN_H
#define JTOOL_MODEL_CLASS_METHOD_PATTERN_H

#include <stdbool.h>

#include "base/buf.h"
#include "classfile/read.h"

struct method_pattern {
	const char *word; /* borrowed */
	char *class;      /* for type_name_matches() */
	char *name;       /* a glob */
	char *parameters; /* "java.lang.String,int[]", a glob; NULL: any */
};

/*
 * Splits `word` at "::", at '#', or at the last dot of the part before '('.  Returns NULL, or why
 * `word` is invalid, as in "it names no method".
 */
const char *method_pattern_parse(struct method_pattern *p, const char *word) _must_check_;
void method_pattern_release(struct method_pattern *p);

/* Matches static initializers only if the pattern's name starts with "<c", as "<clinit>" does. */
bool method_pattern_matches(const struct method_pattern *p, struct cf_text name,
			    struct cf_text descriptor);

/* Adds the parameter types, separated by `comma`; nothing for an invalid descriptor. */
void method_pattern_parameters(struct buf *out, struct cf_text descriptor, const char *comma);

#endif
