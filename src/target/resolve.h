/*
 * From the word that the user typed to the one JVM it means.
 */
#ifndef JTOOL_TARGET_RESOLVE_H
#define JTOOL_TARGET_RESOLVE_H

#include <stdio.h>

#include "base/err.h"
#include "target/discover.h"
#include "target/jvm.h"

/*
 * spec is a pid; or a main class, its simple name, the jar's file name, or a part of any of
 * these that exactly one JVM has.  An exact match wins over a partial one.  NULL with err set
 * (EXIT_TARGET, EXIT_PERMISSION); when several match, or none, they are listed on `candidates`,
 * one a line.  The caller frees the JVM with jvm_free().
 */
struct jvm *target_resolve(const char *spec, FILE *candidates, struct err *err) _must_check_;

/* The same for a name among the JVMs of a list; the one that is found is taken out of it. */
struct jvm *target_choose(struct jvm_list *list, const char *spec, FILE *candidates,
			  struct err *err) _must_check_;

/* All JVMs, at least one; else -1 with err set (EXIT_TARGET, EXIT_PERMISSION). */
int target_all(struct jvm_list *list, struct err *err) _must_check_;

#endif
