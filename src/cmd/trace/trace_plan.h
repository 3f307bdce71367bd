/*
 * Chooses the methods to trace.  Each class is rewritten and verified in the client before the JVM
 * is asked to change it.
 */
#ifndef JTOOL_CMD_TRACE_TRACE_PLAN_H
#define JTOOL_CMD_TRACE_TRACE_PLAN_H

#include "cmd/skipped.h"
#include "cmd/class/class_index.h"
#include "model/class/method_pattern.h"
#include "base/suggest.h"
#include "model/redefine/redefinition.h"
#include "model/profile/trace.h"

/* One pattern of the command line. */
struct trace_wanted {
	struct method_pattern pattern;
	bool found;            /* it matches a method */
	bool unread;           /* it matches a class that could not be read */
	struct suggestions near;
	struct buf candidates; /* methods of the classes that it matches, until `found` */
	size_t n_candidates, n_classes;
};

struct trace_plan {
	struct trace_wanted *wanted;
	size_t n_wanted;
	struct redefinition_jvm jvm;
	bool values;          /* report arguments and results */
	size_t max_methods;
	struct trace trace;   /* the chosen methods, and later their calls */
	uint32_t *numbers;    /* class number of each method; methods are grouped by class */
	size_t cap_numbers;
	size_t n_methods;     /* matching methods; those beyond max_methods are not in `trace` */
	size_t n_classes;     /* classes of these methods */
	size_t n_loaded;      /* classes in the JVM */
	struct skipped skipped;
	struct skipped lambdas; /* lambda classes that only globs match */
};

/* Parses the patterns.  Returns -1 with err set (EXIT_USAGE) if one is invalid. */
int trace_plan_init(struct trace_plan *plan, char *const *patterns, size_t n, struct err *err)
	_must_check_;
void trace_plan_release(struct trace_plan *plan);

/*
 * Finds the methods in classes of `loader` (NULL: any).  Returns -1 with err set if a pattern
 * matches nothing, there are too many methods, or none can be traced.
 */
int trace_plan_make(const struct ctx *ctx, struct trace_plan *plan, struct class_index *index,
		    const char *loader, struct err *err) _must_check_;

/* Returns "a.b.C.m(java.lang.String, int)" for messages; the caller frees it. */
char *trace_plan_name(const char *class, struct cf_text name, struct cf_text descriptor)
	_must_check_;

#endif
