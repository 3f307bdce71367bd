/*
 * What is traced: methods of loaded classes, each of which was rewritten and verified here before
 * the JVM is asked to take it.
 */
#ifndef JTOOL_CMD_TRACE_PLAN_H
#define JTOOL_CMD_TRACE_PLAN_H

#include "cmd/leftout.h"
#include "cmd/roster.h"
#include "model/methodpattern.h"
#include "model/near.h"
#include "model/redefinition.h"
#include "model/trace.h"

/* One word of the user's. */
struct trace_wanted {
	struct methodpattern pattern;
	bool found;      /* it means a method */
	bool unread;     /* it may mean one of a class that could not be read */
	struct near near;
	struct buf has;  /* methods of the classes that it means, while it has found none */
	size_t n_has, n_classes;
};

struct trace_plan {
	struct trace_wanted *wanted;
	size_t n_wanted;
	struct redefinition_jvm jvm;
	bool values;          /* arguments and results are told */
	size_t max_methods;
	struct trace trace;   /* the methods that are asked for; what they tell comes later */
	uint32_t *numbers;    /* of each one's class in the roster; one class's stand together */
	size_t cap_numbers;
	size_t n_methods;     /* may be more than max_methods: then the rest is not in trace */
	size_t n_classes;     /* of them */
	size_t n_loaded;      /* classes in the JVM */
	struct leftout left;
	struct leftout lambdas; /* that globs mean: their code is a method of the class around */
};

/* -1 with err set (EXIT_USAGE): a word is no pattern. */
int trace_plan_init(struct trace_plan *plan, char *const *words, size_t n, struct err *err)
	_must_check_;
void trace_plan_release(struct trace_plan *plan);

/*
 * Find the methods, of the classes of that loader (NULL: of any).  -1 with err set: a word means
 * nothing that is there, there are too many, or none can be traced.
 */
int trace_plan_make(const struct ctx *ctx, struct trace_plan *plan, struct roster *roster,
		    const char *loader, struct err *err) _must_check_;

/* "a.b.C.m(java.lang.String, int)", as messages have it; the texts are the class file's. */
char *trace_plan_name(const char *class, struct cf_text name, struct cf_text descriptor)
	_must_check_;

#endif
