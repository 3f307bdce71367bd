/*
 * Allocation functions that never return NULL: when memory is exhausted, they print an error and
 * end the process.
 *
 * Only the client calls these functions.  The client may end at any time: when its connection to
 * the agent closes, the agent restores the target, and helper processes remove staged files.  The
 * agent does not call these functions, because it must survive a failed allocation.
 */
#ifndef JTOOL_BASE_XALLOC_H
#define JTOOL_BASE_XALLOC_H

#include "base/util.h"

/*
 * Prints the error for exhausted memory and ends the process.  Call it when, for example, a library
 * could not allocate memory.
 */
void _noreturn_ xalloc_die(void);

/* Sets the function that xalloc_die() calls before it ends the process; NULL: no function. */
void xalloc_at_death(void (*restore)(void));

void *xmalloc(size_t size);
void *xcalloc(size_t n, size_t size);
void *xreallocarray(void *p, size_t n, size_t size);
char *xstrdup(const char *s);
char *xstrndup(const char *s, size_t len);
char *xasprintf(const char *fmt, ...) _printf_(1, 2);

/*
 * Makes room for one more element in an array of n elements of `size` bytes each.  *cap is the
 * capacity of the array in elements; the function doubles it if needed.  Returns the array, which
 * may have a new address.
 */
void *xgrow(void *array, size_t n, size_t *cap, size_t size);

#endif
