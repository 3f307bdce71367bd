/* A pattern that matches methods: 'a.b.C.save*', '*.Shop.<init>', 'a.b.C.m(a.b.D, int[])'. */
#ifndef JTOOL_MODEL_CLASS_METHOD_PATTERN_H
#define JTOOL_MODEL_CLASS_METHOD_PATTERN_H

#include <stdbool.h>

#include "base/buf.h"
#include "classfile/read.h"

struct method_pattern {
	const char *word; /* the pattern as the user wrote it; not owned */
	char *class;      /* class part: a word for type_name_matches() */
	char *name;       /* method part: a glob */
	/* glob for the parameter types, such as "java.lang.String,int[]"; NULL: any types */
	char *parameters;
};

/*
 * Parses `word` into *p.  Splits it into class part and method part at "::", at '#', or at the last
 * dot before '('.  Returns NULL; or, if `word` is invalid, the reason, for example "it names no
 * method".
 */
const char *method_pattern_parse(struct method_pattern *p, const char *word) _must_check_;
void method_pattern_release(struct method_pattern *p);

/*
 * Returns true if the method part and the parameters of the pattern match the method.  A static
 * initializer matches only if the method part starts with "<c", as "<clinit>" does.
 */
bool method_pattern_matches(const struct method_pattern *p, struct cf_text name,
			    struct cf_text descriptor);

/*
 * Appends to `out` the Java names of a descriptor's parameter types, with `comma` between them.
 * Appends nothing if the descriptor is invalid.
 */
void method_pattern_parameters(struct buf *out, struct cf_text descriptor, const char *comma);

#endif
