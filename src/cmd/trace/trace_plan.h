/*
 * Chooses the methods to trace.  Before the JVM gets a request to change a class, the client
 * rewrites the class itself and verifies the result.
 */
#ifndef JTOOL_CMD_TRACE_TRACE_PLAN_H
#define JTOOL_CMD_TRACE_TRACE_PLAN_H

#include "cmd/skipped.h"
#include "cmd/class/class_index.h"
#include "model/class/method_pattern.h"
#include "base/suggest.h"
#include "model/redefine/redefinition.h"
#include "model/profile/trace.h"

/* A pattern of the command line, and what it has matched so far. */
struct trace_wanted {
	struct method_pattern pattern;
	bool found;            /* the pattern matches a method */
	bool unread;           /* the pattern matches a class that could not be read */
	struct suggestions near;
	/*
	 * For the error text if the pattern matches no method: the class part of the pattern
	 * matches n_classes classes, and these have n_candidates methods.  `candidates` lists these
	 * methods; if they are too many, only the first ones.
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
	struct trace trace;   /* the chosen methods; later also the calls of these methods */
	/*
	 * numbers[i]: the number that the class index gives to the class of method i of `trace`.
	 * The methods of one class are adjacent.
	 */
	uint32_t *numbers;
	size_t cap_numbers;
	/* number of methods that match the patterns; `trace` has the first max_methods of them */
	size_t n_methods;
	size_t n_classes;     /* number of classes of these n_methods methods */
	size_t n_loaded;      /* number of classes that the JVM has loaded */
	struct skipped skipped;
	/* skipped lambda and TypeSwitch classes that match globs, but no exact name */
	struct skipped lambdas;
};

/*
 * Parses the patterns of the command line.  Returns 0, or -1 with err set (EXIT_USAGE) if a pattern
 * is invalid.
 */
int trace_plan_init(struct trace_plan *plan, char *const *patterns, size_t n, struct err *err)
	_must_check_;
void trace_plan_release(struct trace_plan *plan);

/*
 * Finds the methods that match the patterns, in the classes of `loader` (NULL: of any loader).
 * Returns 0; or -1 with err set if a pattern matches nothing, if too many methods match, or if none
 * of the matching methods can be traced.
 */
int trace_plan_make(const struct ctx *ctx, struct trace_plan *plan, struct class_index *index,
		    const char *loader, struct err *err) _must_check_;

/* Returns the method's name for messages, "a.b.C.m(java.lang.String, int)"; the caller frees it. */
char *trace_plan_name(const char *class, struct cf_text name, struct cf_text descriptor)
	_must_check_;

#endif
