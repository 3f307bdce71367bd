/* Finds the JVM for a TARGET argument. */
#ifndef JTOOL_DISCOVER_RESOLVE_H
#define JTOOL_DISCOVER_RESOLVE_H

#include <stdio.h>

#include "base/err.h"
#include "discover/discover.h"
#include "discover/jvm.h"

/*
 * Returns the JVM that `spec` identifies: a pid, or a main class, its simple name, a jar's file
 * name, or a part of these that exactly one JVM matches.  The exact name of one JVM is ambiguous if
 * it is a part of another JVM's name.  Returns NULL with `err` set (EXIT_TARGET, EXIT_PERMISSION).
 * If several JVMs match, prints them to `candidates`, one a line; if no JVM matches, prints all
 * JVMs.  The caller frees the JVM with jvm_free().
 */
struct jvm *resolve_target(const char *spec, FILE *candidates, struct err *err) _must_check_;

/* Finds a JVM of the list by name, as resolve_target() does, and removes it from the list. */
struct jvm *resolve_among(struct jvm_list *list, const char *spec, FILE *candidates,
			  struct err *err) _must_check_;

/* Finds all JVMs.  Returns -1 with `err` set (EXIT_TARGET, EXIT_PERMISSION) if there is none. */
int resolve_all(struct jvm_list *list, struct err *err) _must_check_;

#endif
