/*
 * Allocation that does not fail: when memory is out, the process ends with one line.
 *
 * That is allowed on this side only.  jtool is short-lived and crash-only: whatever it holds in
 * a target is given back by the agent when the connection closes, and by the keeper process
 * when the pipe does.  The agent never uses these.
 */
#ifndef JTOOL_BASE_XALLOC_H
#define JTOOL_BASE_XALLOC_H

#include "base/util.h"

/* End the process: for allocations that a library made and could not. */
void _noreturn_ xalloc_die(void);

void *xmalloc(size_t size);
void *xcalloc(size_t n, size_t size);
void *xreallocarray(void *p, size_t n, size_t size);
char *xstrdup(const char *s);
char *xstrndup(const char *s, size_t len);
char *xasprintf(const char *fmt, ...) _printf_(1, 2);

/*
 * Make room for one more element in an array that has *cap places and n used ones; grows by
 * doubling.  Returns the array, which may have moved.
 */
void *xgrow(void *array, size_t n, size_t *cap, size_t size);

#endif
