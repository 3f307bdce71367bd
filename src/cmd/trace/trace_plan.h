/*
 * Chooses the methods to trace.  Each class is rewritten and verified in the client before the JVM
 * is asked to change the class.
 */
#ifndef JTOOL_CMD_TRACE_TRACE_PLAN_H
#define JTOOL_CMD_TRACE_TRACE_PLAN_H

#include "cmd/skipped.h"
#include "cmd/class/class_index.h"
#include "model/class/method_pattern.h"
#include "base/suggest.h"
#include "model/redefine/redefinition.h"
#include "model/profile/trace.h"

/* A pattern of the command line, and what it has matched. */
struct trace_wanted {
	struct method_pattern pattern;
	bool found;            /* the pattern matches a method */
	bool unread;           /* the pattern matches a class that could not be read */
	struct suggestions near;
	/*
	 * For the error if no method matches: the n_candidates methods of the n_classes classes
	 * that the pattern matches.  `candidates` is the list of these methods in the error; it may
	 * have no room for all of them.
	 */
	struct buf candidates;
	size_t n_candidates, n_classes;
};

struct trace_plan {
	struct trace_wanted *wanted;
	size_t n_wanted;
	struct redefinition_jvm jvm;
	bool values;          /* the agent must report arguments and results */
	size_t max_methods;
	struct trace trace;   /* the methods that were chosen, and later their calls */
	/*
	 * for each method in `trace`, the number of its class in the class index; the methods of a
	 * class are adjacent
	 */
	uint32_t *numbers;
	size_t cap_numbers;
	/* number of methods that match the patterns; at most max_methods of them are in `trace` */
	size_t n_methods;
	size_t n_classes;     /* number of classes that have at least one method in n_methods */
	size_t n_loaded;      /* number of classes that the JVM has loaded */
	struct skipped skipped;
	struct skipped lambdas; /* skipped lambda and TypeSwitch classes that only globs match */
};

/*
 * Parses the patterns of the command line.  Returns 0, or -1 with err set (EXIT_USAGE) if a pattern
 * is invalid.
 */
int trace_plan_init(struct trace_plan *plan, char *const *patterns, size_t n, struct err *err)
	_must_check_;
void trace_plan_release(struct trace_plan *plan);

/*
 * Finds the methods that match the patterns, in the classes of `loader` (NULL: any loader).
 * Returns -1 with err set if a pattern matches nothing, if too many methods match, or if none of
 * these methods can be traced.
 */
int trace_plan_make(const struct ctx *ctx, struct trace_plan *plan, struct class_index *index,
		    const char *loader, struct err *err) _must_check_;

/* Returns the method's name for messages, "a.b.C.m(java.lang.String, int)"; the caller frees it. */
char *trace_plan_name(const char *class, struct cf_text name, struct cf_text descriptor)
	_must_check_;

#endif
