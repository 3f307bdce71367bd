/* Finds the JVM for a TARGET argument. */
#ifndef JTOOL_DISCOVER_RESOLVE_H
#define JTOOL_DISCOVER_RESOLVE_H

#include <stdio.h>

#include "base/err.h"
#include "discover/discover.h"
#include "discover/jvm.h"

/*
 * Returns the JVM that `spec` identifies; the caller frees it with jvm_free().  `spec` is a pid, or
 * a part of the name of exactly one JVM.  A JVM's name is its main class or the path of its jar
 * (jvm.main).  So even a JVM's complete name is ambiguous if it is a part of another JVM's name.
 * On failure, returns NULL with `err` set, for example to EXIT_TARGET or EXIT_PERMISSION.  If
 * several JVMs match, also prints them to `candidates`, one a line; if no JVM matches, prints all
 * JVMs.
 */
struct jvm *resolve_target(const char *spec, FILE *candidates, struct err *err) _must_check_;

/* As resolve_target(), but finds the JVM in the list, only by name, and removes it there. */
struct jvm *resolve_among(struct jvm_list *list, const char *spec, FILE *candidates,
			  struct err *err) _must_check_;

/* Finds all JVMs.  Returns 0; or -1 with `err` set: EXIT_TARGET if no JVM is visible. */
int resolve_all(struct jvm_list *list, struct err *err) _must_check_;

#endif
