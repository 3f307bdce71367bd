/*
 * Allocation functions that never return NULL: out of memory ends the process with an error.
 *
 * For the client only, which may end at any time: the agent restores the target when the connection
 * closes, and helper processes remove staged files.  The agent must survive failed allocations.
 */
#ifndef JTOOL_BASE_XALLOC_H
#define JTOOL_BASE_XALLOC_H

#include "base/util.h"

/* Ends the process after a failed allocation, for example in a library. */
void _noreturn_ xalloc_die(void);

/* Sets what is called just before that; NULL: nothing. */
void xalloc_at_death(void (*restore)(void));

void *xmalloc(size_t size);
void *xcalloc(size_t n, size_t size);
void *xreallocarray(void *p, size_t n, size_t size);
char *xstrdup(const char *s);
char *xstrndup(const char *s, size_t len);
char *xasprintf(const char *fmt, ...) _printf_(1, 2);

/*
 * Returns the array, which may have moved, with room for one more than its n elements of `size`
 * bytes.  *cap is its capacity in elements; doubled if needed.
 */
void *xgrow(void *array, size_t n, size_t *cap, size_t size);

#endif
