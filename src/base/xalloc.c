#include "base/xalloc.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"

static void (*at_death)(void);

void xalloc_at_death(void (*restore)(void))
{
	at_death = restore;
}

void xalloc_die(void)
{
	static const char text[] = "jtool: out of memory: free some, or raise the memory limit of "
				   "jtool's control group\n";

	if (at_death)
		at_death();
	if (write(STDERR_FILENO, text, sizeof(text) - 1) < 0)
		_exit(EXIT_PARTIAL);
	_exit(EXIT_PARTIAL);
}

void *xmalloc(size_t size)
{
	void *p = malloc(size ? size : 1);

	if (!p)
		xalloc_die();
	return p;
}

void *xcalloc(size_t n, size_t size)
{
	void *p = calloc(n ? n : 1, size ? size : 1);

	if (!p)
		xalloc_die();
	return p;
}

void *xreallocarray(void *p, size_t n, size_t size)
{
	p = reallocarray(p, n ? n : 1, size ? size : 1);
	if (!p)
		xalloc_die();
	return p;
}

char *xstrdup(const char *s)
{
	return xstrndup(s, strlen(s));
}

char *xstrndup(const char *s, size_t len)
{
	char *copy;

	len = strnlen(s, len);
	copy = xmalloc(len + 1);
	memcpy(copy, s, len);
	copy[len] = '\0';
	return copy;
}

char *xasprintf(const char *fmt, ...)
{
	char *s;
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vasprintf(&s, fmt, ap);
	va_end(ap);
	if (n < 0)
		xalloc_die();
	return s;
}

void *xgrow(void *array, size_t n, size_t *cap, size_t size)
{
	if (n < *cap)
		return array;
	if (*cap > SIZE_MAX / 2)
		xalloc_die();
	*cap = *cap ? *cap * 2 : 16;
	return xreallocarray(array, *cap, size);
}
