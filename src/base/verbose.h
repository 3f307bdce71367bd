/* --verbose: prints each step on stderr, with the time since the start of the program. */
#ifndef JTOOL_BASE_VERBOSE_H
#define JTOOL_BASE_VERBOSE_H

#include <stdint.h>

#include "base/util.h"

struct verbose {
	int64_t start_ns; /* monotonic_ns() at the start of the program */
};

/* Prints a step; does nothing if steps is NULL. */
void verbose_step(const struct verbose *steps, const char *fmt, ...) _printf_(2, 3);

/*
 * Makes verbose_step() call print() instead of writing to stderr.  A process whose stderr is closed
 * needs this.
 */
void verbose_divert(void (*print)(const char *text));

#endif
