/*
 * Allocation functions that never return NULL: when memory is exhausted, they print an error and
 * end the process.
 *
 * Only the client uses these functions.  The client may end at any time, because the agent then
 * restores the target when the connection closes, and helper processes remove staged files.  The
 * agent does not use them, because it must survive a failed allocation.
 */
#ifndef JTOOL_BASE_XALLOC_H
#define JTOOL_BASE_XALLOC_H

#include "base/util.h"

/*
 * Ends the process with the error for exhausted memory, for example when a library could not
 * allocate.
 */
void _noreturn_ xalloc_die(void);

/* Sets a function that xalloc_die() calls before it ends the process; NULL: none. */
void xalloc_at_death(void (*restore)(void));

void *xmalloc(size_t size);
void *xcalloc(size_t n, size_t size);
void *xreallocarray(void *p, size_t n, size_t size);
char *xstrdup(const char *s);
char *xstrndup(const char *s, size_t len);
char *xasprintf(const char *fmt, ...) _printf_(1, 2);

/*
 * Makes room for one more element in an array of n elements of `size` bytes each.  Returns the
 * array, which may have moved.  *cap is the capacity in elements, which is doubled if needed.
 */
void *xgrow(void *array, size_t n, size_t *cap, size_t size);

#endif
