/*
 * What --verbose shows: each step of the way with the time since the start, on stderr.
 * A NULL pointer is a valid, silent one.
 */
#ifndef JTOOL_BASE_STEPS_H
#define JTOOL_BASE_STEPS_H

#include <stdint.h>

#include "base/util.h"

struct steps {
	int64_t start_ns; /* io_now_ns() at the start of the program */
};

void steps_add(const struct steps *steps, const char *fmt, ...) _printf_(2, 3);

#endif
