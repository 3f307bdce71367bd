/* The kernel's clock source, see Documentation/timers/timekeeping.rst of Linux. */
#ifndef JTOOL_PROC_CLOCK_SOURCE_H
#define JTOOL_PROC_CLOCK_SOURCE_H

#include <stdbool.h>

/*
 * Returns true if the kernel's clock source is the time stamp counter of x86 processors, which
 * means that the counter has a constant rate and is the same on all processors.  Returns false if
 * /sys does not show the clock source.
 */
bool clock_source_is_counter(void);

#endif
